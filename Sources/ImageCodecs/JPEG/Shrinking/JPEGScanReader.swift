// SPDX-License-Identifier: Apache-2.0

#if JPEG
internal import EncodedImages

/// One scan (T.81 A.2): which coefficients of which components it codes, and the Huffman tables
/// in force.
struct JPEGScan {
    /// A component of the scan (T.81 B.2.3).
    struct Component {
        /// The index of the component in ``JPEGFrame/components``.
        var frameIndex: Int
        var dcTable: HuffmanTable?
        var acTable: HuffmanTable?
    }

    var components: [Component]
    /// The spectral selection, Ss to Se (T.81 G.1.1.1.1): indices in zigzag order.
    var spectralSelection: ClosedRange<Int>
    /// Ah (T.81 G.1.1.1.2), the bit position of the preceding scan; 0 in the first scan of a
    /// coefficient.
    var highBit: Int
    /// Al, the bit position of this scan.
    var lowBit: Int
    /// MCUs between two restart markers (T.81 B.2.4.4), or 0 without restart markers.
    var restartInterval: Int
    /// The offset in the file at which the entropy-coded data begins.
    var dataStart: Int

    /// The division of a scan into minimum coded units, MCUs (T.81 A.2).
    struct Grid {
        var mcusAcross: Int
        var mcusDown: Int
        /// The blocks of each scan component in an MCU.
        var blocks: [(across: Int, down: Int)]

        var mcuCount: Int { mcusAcross * mcusDown }
    }

    /// Returns the number of MCUs in each entropy-coded segment except the last.
    func mcusPerSegment(of mcuCount: Int) -> Int {
        restartInterval == 0 ? mcuCount : restartInterval
    }

    /// Returns the division of the scan into MCUs.
    ///
    /// The MCU of a scan with one component is one block, and blocks that only pad an
    /// interleaved MCU are not coded (T.81 A.2.2).
    func grid(_ frame: JPEGFrame) -> Grid {
        if components.count == 1 {
            let component = frame.components[components[0].frameIndex]
            return Grid(
                mcusAcross: component.blocksAcross, mcusDown: component.blocksDown,
                blocks: [(1, 1)])
        }
        return Grid(
            mcusAcross: frame.mcusAcross, mcusDown: frame.mcusDown,
            blocks: components.map {
                let component = frame.components[$0.frameIndex]
                return (component.horizontalSampling, component.verticalSampling)
            })
    }
}

/// Reads the marker segments of a file in order and returns its scans with the tables in force.
///
/// Every value is checked. Files that violate the standard are left to libjpeg-turbo.
struct JPEGScanReader {
    enum ColorSpace { case gray, yCbCr, rgb, cmyk, ycck }

    private(set) var frame: JPEGFrame?
    /// By component: the quantization table in zigzag order that was in force at its first
    /// scan.
    private(set) var quantization: [[UInt16]?] = []
    private(set) var isInverted = false
    private var quantizationTables = [[UInt16]?](repeating: nil, count: 4)
    private var dcTables = [HuffmanTable?](repeating: nil, count: 4)
    private var acTables = [HuffmanTable?](repeating: nil, count: 4)
    private var restartInterval = 0
    private var hasJFIF = false
    private var adobeTransform: UInt8?
    private var segments = JPEGSegments()

    /// Returns the next scan, or `nil` at the end of the image; call ``skip(to:)`` after each
    /// scan.
    mutating func next(_ file: Span<UInt8>) throws(ShrinkingError) -> JPEGScan? {
        while true {
            guard let segment = try? segments.next(file) else { throw .notHandled }
            let body = file.extracting(segment.body)
            switch segment.marker {
            case JPEGSegments.endOfImage: return nil
            case JPEGSegments.startOfScan: return try scan(body)
            case 0xC4: /* DHT */ try readHuffmanTables(body)
            case 0xDB: /* DQT */ try readQuantizationTables(body)
            case 0xDD:  // DRI
                guard body.count == 2 else { throw .notHandled }
                restartInterval = body.bigEndian(at: 0, byteCount: 2)
            case 0xC0...0xCF:  // SOF
                guard frame == nil, let new = JPEGFrame(marker: segment.marker, body) else {
                    throw .notHandled
                }
                frame = new
                quantization = Array(repeating: nil, count: new.components.count)
            case 0xDC: /* DNL */ throw .notHandled
            case 0xE0:  // APP0
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

    /// The colour space, determined as in libjpeg-turbo: from markers first, from component
    /// identifiers last.
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

    private mutating func scan(_ body: Span<UInt8>) throws(ShrinkingError) -> JPEGScan {
        guard let frame, body.count >= 4 else { throw .notHandled }
        let count = Int(body[0])
        guard (1...frame.components.count).contains(count), body.count == 4 + count * 2 else {
            throw .notHandled
        }
        var components: [JPEGScan.Component] = []
        for index in 0..<count {
            let identifier = body[1 + index * 2]
            let tables = Int(body[2 + index * 2])
            guard
                let component = frame.components.firstIndex(where: {
                    $0.identifier == identifier
                }), tables >> 4 < 4, tables & 15 < 4,
                component > components.last?.frameIndex ?? -1
            else { throw .notHandled }
            components.append(
                .init(
                    frameIndex: component, dcTable: dcTables[tables >> 4],
                    acTable: acTables[tables & 15]))
            let table = frame.components[component].quantizationTable
            quantization[component] = quantization[component] ?? quantizationTables[table]
            guard quantization[component] != nil else { throw .notHandled }
        }
        let start = Int(body[1 + count * 2])
        let end = Int(body[2 + count * 2])
        let bits = Int(body[3 + count * 2])
        let blocks = components.map {
            frame.components[$0.frameIndex].horizontalSampling
                * frame.components[$0.frameIndex].verticalSampling
        }
        guard count == 1 || blocks.reduce(0, +) <= 10 else { throw .notHandled }
        var scan = JPEGScan(
            components: components, spectralSelection: 0...63, highBit: bits >> 4,
            lowBit: bits & 15,
            restartInterval: restartInterval, dataStart: segments.offset)
        if frame.isProgressive {
            // T.81 G.1.1.1: a scan of DC coefficients has no AC coefficients; a scan of AC
            // coefficients has one component.
            guard start <= end, end < 64, start > 0 || end == 0, start == 0 || count == 1,
                scan.highBit == 0 || scan.lowBit == scan.highBit - 1, scan.lowBit <= 13
            else { throw .notHandled }
            scan.spectralSelection = start...end
            let needsDC = start == 0 && scan.highBit == 0
            guard
                components.allSatisfy({
                    (!needsDC || $0.dcTable != nil) && (start == 0 || $0.acTable != nil)
                })
            else { throw .notHandled }
        } else {
            guard start == 0, end == 63, bits == 0,
                components.allSatisfy({ $0.dcTable != nil && $0.acTable != nil })
            else { throw .notHandled }
        }
        return scan
    }

    private mutating func readHuffmanTables(_ body: Span<UInt8>) throws(ShrinkingError) {
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
            guard let code = HuffmanTable(counts: counts, symbols: symbols) else {
                throw .notHandled
            }
            if place < 16 {
                guard symbols.allSatisfy({ $0 < 16 }) else { throw .notHandled }
                dcTables[place] = code
            } else {
                acTables[place & 15] = code
            }
        }
    }

    private mutating func readQuantizationTables(_ body: Span<UInt8>) throws(ShrinkingError) {
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

/// The reason why the shrinking decoder stopped.
enum ShrinkingError: Error {
    /// libjpeg-turbo must decode the file, or report its error.
    case notHandled
    /// Decoding failed with an error that libjpeg-turbo would not avert.
    case failed(CodecError)

    /// Rethrows an error of `body` as ``failed(_:)``.
    static func wrap<Value>(
        _ body: () throws(CodecError) -> Value
    ) throws(ShrinkingError) -> Value {
        do { return try body() } catch { throw .failed(error) }
    }
}
#endif
