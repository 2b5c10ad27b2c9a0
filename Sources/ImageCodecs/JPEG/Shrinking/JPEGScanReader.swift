// SPDX-License-Identifier: Apache-2.0

#if JPEG
    internal import EncodedImages
    internal import Pixels

    /// One pass over the picture: which coefficients of which components it brings, and by which codes.
    struct JPEGScan {
        struct Part {
            var component: Int
            var dcCode: HuffmanCode?
            var acCode: HuffmanCode?
        }

        var parts: [Part]
        /// Positions in zigzag order.
        var band: ClosedRange<Int>
        /// The bit above those that the scan brings; 0 in the first scan of a coefficient.
        var high: Int
        /// The lowest bit that the scan brings.
        var low: Int
        /// Units between two restart markers, or 0.
        var restartInterval: Int
        /// Where its entropy-coded data begins in the file.
        var dataStart: Int

        /// How a scan cuts the picture into units.
        struct Grid {
            var unitsAcross: Int
            var unitsDown: Int
            /// By part: its blocks in a unit.
            var blocks: [(across: Int, down: Int)]

            var unitCount: Int { unitsAcross * unitsDown }
        }

        /// Units in each segment but the last, of `unitCount` in the scan.
        func unitsPerSegment(of unitCount: Int) -> Int {
            restartInterval == 0 ? unitCount : restartInterval
        }

        /// A component by itself has units of one block, and none of those that only fill up units.
        func grid(_ frame: JPEGFrame) -> Grid {
            if parts.count == 1 {
                let component = frame.components[parts[0].component]
                return Grid(
                    unitsAcross: component.blocksAcross, unitsDown: component.blocksDown,
                    blocks: [(1, 1)])
            }
            return Grid(
                unitsAcross: frame.unitsAcross, unitsDown: frame.unitsDown,
                blocks: parts.map {
                    let component = frame.components[$0.component]
                    return (component.horizontalSampling, component.verticalSampling)
                })
        }
    }

    /// Reads a file's segments in order and hands out its scans, each with the tables in force.
    ///
    /// Everything here is checked; what breaks the rules is left to libjpeg-turbo.
    struct JPEGScanReader {
        enum ColorSpace { case gray, yCbCr, rgb, cmyk, ycck }

        private(set) var frame: JPEGFrame?
        /// By component: 64 factors in zigzag order, those in force at its first scan.
        private(set) var quantization: [[UInt16]?] = []
        private(set) var isInverted = false
        private var quantizationTables = [[UInt16]?](repeating: nil, count: 4)
        private var dcCodes = [HuffmanCode?](repeating: nil, count: 4)
        private var acCodes = [HuffmanCode?](repeating: nil, count: 4)
        private var restartInterval = 0
        private var hasJFIF = false
        private var adobeTransform: UInt8?
        private var segments = JPEGSegments()

        /// The next scan, or `nil` at the end of the image; ``skip(to:)`` must follow each.
        mutating func next(_ file: Span<UInt8>) throws(ShrinkingStop) -> JPEGScan? {
            while true {
                guard let segment = try? segments.next(file) else { throw .notHandled }
                let body = file.extracting(segment.body)
                switch segment.marker {
                case JPEGSegments.endOfImage: return nil
                case JPEGSegments.startOfScan: return try scan(body)
                case 0xC4: try takeHuffmanCodes(body)
                case 0xDB: try takeQuantization(body)
                case 0xDD:
                    guard body.count == 2 else { throw .notHandled }
                    restartInterval = body.bigEndian(at: 0, byteCount: 2)
                case 0xC0...0xCF:
                    guard frame == nil, let new = JPEGFrame(marker: segment.marker, body) else {
                        throw .notHandled
                    }
                    frame = new
                    quantization = Array(repeating: nil, count: new.components.count)
                case 0xDC: throw .notHandled
                case 0xE0:
                    hasJFIF =
                        hasJFIF
                        || body.count >= 14 && JPEGSegments.starts(body, with: "JFIF\0")
                case 0xEE where body.count >= 12 && JPEGSegments.starts(body, with: "Adobe"):
                    adobeTransform = body[11]
                    isInverted = true
                default: break
                }
            }
        }

        mutating func skip(to end: Int) { segments.skip(to: end) }

        /// Decided as libjpeg-turbo does, by markers first and by names of components last.
        var colorSpace: ColorSpace {
            guard let components = frame?.components else { return .gray }
            switch (components.count, adobeTransform) {
            case (1, _): return .gray
            case (4, nil), (4, 0): return .cmyk
            case (4, _): return .ycck
            case _ where hasJFIF: return .yCbCr
            case (_, 0): return .rgb
            case (_, .some): return .yCbCr
            case (_, nil):
                return components.map(\.identifier) == Array("RGB".utf8) ? .rgb : .yCbCr
            }
        }

        private mutating func scan(_ body: Span<UInt8>) throws(ShrinkingStop) -> JPEGScan {
            guard let frame, body.count >= 4 else { throw .notHandled }
            let count = Int(body[0])
            guard (1...frame.components.count).contains(count), body.count == 4 + count * 2 else {
                throw .notHandled
            }
            var parts: [JPEGScan.Part] = []
            for index in 0..<count {
                let identifier = body[1 + index * 2]
                let tables = Int(body[2 + index * 2])
                guard
                    let component = frame.components.firstIndex(where: {
                        $0.identifier == identifier
                    }), tables >> 4 < 4, tables & 15 < 4,
                    component > parts.last?.component ?? -1
                else { throw .notHandled }
                parts.append(
                    .init(
                        component: component, dcCode: dcCodes[tables >> 4],
                        acCode: acCodes[tables & 15]))
                let table = frame.components[component].quantizationTable
                quantization[component] = quantization[component] ?? quantizationTables[table]
                guard quantization[component] != nil else { throw .notHandled }
            }
            let start = Int(body[1 + count * 2])
            let end = Int(body[2 + count * 2])
            let bits = Int(body[3 + count * 2])
            let blocks = parts.map {
                frame.components[$0.component].horizontalSampling
                    * frame.components[$0.component].verticalSampling
            }
            guard count == 1 || blocks.reduce(0, +) <= 10 else { throw .notHandled }
            var scan = JPEGScan(
                parts: parts, band: 0...63, high: bits >> 4, low: bits & 15,
                restartInterval: restartInterval, dataStart: segments.offset)
            if frame.isProgressive {
                // Figures of annex G: DC has scans of its own, AC those of one component.
                guard start <= end, end < 64, start > 0 || end == 0, start == 0 || count == 1,
                    scan.high == 0 || scan.low == scan.high - 1, scan.low <= 13
                else { throw .notHandled }
                scan.band = start...end
                let needsDC = start == 0 && scan.high == 0
                guard
                    parts.allSatisfy({
                        (!needsDC || $0.dcCode != nil) && (start == 0 || $0.acCode != nil)
                    })
                else { throw .notHandled }
            } else {
                guard start == 0, end == 63, bits == 0,
                    parts.allSatisfy({ $0.dcCode != nil && $0.acCode != nil })
                else { throw .notHandled }
            }
            return scan
        }

        private mutating func takeHuffmanCodes(_ body: Span<UInt8>) throws(ShrinkingStop) {
            var offset = 0
            while offset < body.count {
                guard body.count - offset >= 17 else { throw .notHandled }
                let place = Int(body[offset])
                let counts = (1...16).map { Int(body[offset + $0]) }
                let total = counts.reduce(0, +)
                offset += 17
                guard total <= 256, total <= body.count - offset, place & 0xEF < 4 else {
                    throw .notHandled
                }
                let symbols = (offset..<offset + total).map { body[$0] }
                offset += total
                guard let code = HuffmanCode(counts: counts, symbols: symbols) else {
                    throw .notHandled
                }
                if place < 16 {
                    guard symbols.allSatisfy({ $0 < 16 }) else { throw .notHandled }
                    dcCodes[place] = code
                } else {
                    acCodes[place & 15] = code
                }
            }
        }

        private mutating func takeQuantization(_ body: Span<UInt8>) throws(ShrinkingStop) {
            var offset = 0
            while offset < body.count {
                let place = Int(body[offset])
                let byteCount = place >> 4 == 0 ? 1 : 2
                offset += 1
                guard place & 15 < 4, place >> 4 < 2, body.count - offset >= 64 * byteCount else {
                    throw .notHandled
                }
                quantizationTables[place & 15] = (0..<64).map { index in
                    UInt16(body.bigEndian(at: offset + index * byteCount, byteCount: byteCount))
                }
                offset += 64 * byteCount
            }
        }
    }

    /// Why the shrinking decoder does not go on.
    enum ShrinkingStop: Error {
        /// The file is one that libjpeg-turbo reads, or finds the fault of.
        case notHandled
        case failed(CodecError)

        static func wrap<Value>(
            _ body: () throws(CodecError) -> Value
        ) throws(ShrinkingStop) -> Value {
            do { return try body() } catch { throw .failed(error) }
        }
    }
#endif
