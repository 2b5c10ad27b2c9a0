// SPDX-License-Identifier: Apache-2.0

#if JPEG
    internal import EncodedImages
    internal import Pixels

    /// Passes the rows of a ``ShrinkingDecoder`` to a ``RowSink``: Y, Cb and Cr as planes, other
    /// components interleaved.
    struct ShrunkPictureSink: ComponentSink, ~Copyable {
        var rows: RowSink
        private let profile: ColorProfile
        private var picture: ShrunkPicture?
        private var inks: InkRows?

        init(_ rows: consuming RowSink, _ profile: ColorProfile) {
            self.rows = rows
            self.profile = profile
        }

        mutating func blockSides(
            _ frame: JPEGFrame, _ space: JPEGScanReader.ColorSpace
        ) throws(CodecError) -> [Int]? {
            try rows.choose { ShrinkChoice($0).blockSides(frame, space) }
        }

        mutating func begin(_ picture: ShrunkPicture) throws(CodecError) {
            self.picture = picture
            let frame = picture.frame
            rows.report = DecodeReport(
                decoder: "shrinking", shrinkFactors: picture.blockSides.map { 8 / $0 })
            switch picture.colorSpace {
            case .gray:
                try rows.begin(picture.size(of: 0), .gray8, profile)
            case .yCbCr:
                let planes = frame.components.enumerated().map { index, component in
                    let scale = Double(picture.blockSides[index]) / 8
                    return SourcePlane(
                        size: picture.size(of: index),
                        horizontalScale: scale * Double(component.horizontalSampling)
                            / Double(frame.maximumHorizontalSampling),
                        verticalScale: scale * Double(component.verticalSampling)
                            / Double(frame.maximumVerticalSampling))
                }
                try rows.beginYCbCr(planes, profile)
            case .rgb, .cmyk, .ycck:
                let isRGB = picture.colorSpace == .rgb
                try rows.begin(picture.size(of: 0), .rgb8, isRGB ? profile : .sRGB)
                inks = try InkRows(picture, isRGB ? .sRGB : profile)
            }
        }

        mutating func append(_ row: Span<UInt8>, component: Int) throws(CodecError) {
            switch picture?.colorSpace {
            case .gray: try rows.append(row)
            case .yCbCr: try rows.append(row, plane: component)
            default:
                inks?.append(row, component: component)
                while inks?.hasRow == true {
                    inks?.makeRow()
                    if let row = inks?.row { try rows.append(row.span) }
                }
            }
        }
    }

    /// Interleaves the rows of components of equal size to rows of RGB.
    private struct InkRows: ~Copyable {
        private(set) var row: [UInt8]
        private let picture: ShrunkPicture
        private let conversion: CMYKConversion
        private var waiting: [[[UInt8]]]
        private var next: [Int]

        init(_ picture: ShrunkPicture, _ profile: ColorProfile) throws(CodecError) {
            self.picture = picture
            conversion = try CMYKConversion(profile, isInverted: picture.isInverted)
            let count = picture.blockSides.count
            waiting = Array(repeating: [], count: count)
            next = Array(repeating: 0, count: count)
            row = Array(repeating: 0, count: picture.size(of: 0).width * 3)
        }

        mutating func append(_ row: Span<UInt8>, component: Int) {
            waiting[component].append(row.indices.map { row[$0] })
        }

        /// Whether a row of every component is available.
        var hasRow: Bool { waiting.indices.allSatisfy { next[$0] < waiting[$0].count } }

        mutating func makeRow() {
            let parts = waiting.indices.map { waiting[$0][next[$0]] }
            for component in waiting.indices {
                waiting[component][next[component]] = []
                next[component] += 1
                if next[component] == waiting[component].count {
                    waiting[component] = []
                    next[component] = 0
                }
            }
            let width = row.count / 3
            if picture.colorSpace == .rgb {
                for x in 0..<width {
                    for c in 0..<3 { row[x * 3 + c] = parts[c][x] }
                }
                return
            }
            var inks = [UInt8](repeating: 0, count: width * 4)
            for x in 0..<width {
                for c in 0..<4 { inks[x * 4 + c] = parts[c][x] }
                if picture.colorSpace == .ycck { Self.convertYCC(&inks, x * 4) }
            }
            conversion.convert(inks.span, into: &row)
        }

        /// Converts YCbCr to RGB, inverted to CMY.
        private static func convertYCC(_ inks: inout [UInt8], _ start: Int) {
            let luma = Double(inks[start])
            let (blue, red) = (Double(inks[start + 1]) - 128, Double(inks[start + 2]) - 128)
            let light = [
                luma + 1.402 * red, luma - 0.344_136 * blue - 0.714_136 * red, luma + 1.772 * blue,
            ]
            for c in 0..<3 {
                inks[start + c] = 255 - UInt8(min(max(light[c], 0), 255).rounded())
            }
        }
    }
#endif
