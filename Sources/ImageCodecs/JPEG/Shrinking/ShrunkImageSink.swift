// SPDX-License-Identifier: Apache-2.0

#if JPEG
internal import EncodedImages
internal import Pixels

/// Passes the rows of a ``ShrinkingDecoder`` to a ``RowSink``: Y, Cb and Cr as planes, other
/// components interleaved.
struct ShrunkImageSink: ComponentSink, ~Copyable {
    var rows: RowSink
    private let profile: ColorProfile
    private var image: ShrunkImage?
    private var rgbRows: RGBRows?

    init(_ rows: consuming RowSink, _ profile: ColorProfile) {
        self.rows = rows
        self.profile = profile
    }

    mutating func blockSides(
        _ frame: JPEGFrame, _ space: JPEGScanReader.ColorSpace
    ) throws(CodecError) -> [Int]? {
        try rows.choose { ShrinkChoice($0).blockSides(frame, space) }
    }

    mutating func begin(_ image: ShrunkImage) throws(CodecError) {
        self.image = image
        let frame = image.frame
        rows.report = DecodeReport(
            decoder: "shrinking", shrinkFactors: image.blockSides.map { 8 / $0 })
        switch image.colorSpace {
        case .gray:
            try rows.begin(image.size(of: 0), .gray8, profile)
        case .yCbCr:
            let planes = frame.components.enumerated().map { index, component in
                let scale = Double(image.blockSides[index]) / 8
                return SourcePlane(
                    size: image.size(of: index),
                    horizontalScale: scale * Double(component.horizontalSampling)
                        / Double(frame.maximumHorizontalSampling),
                    verticalScale: scale * Double(component.verticalSampling)
                        / Double(frame.maximumVerticalSampling))
            }
            try rows.beginYCbCr(planes, profile) { ShrinkChoice($0).reductions(frame) }
        case .rgb, .cmyk, .ycck:
            let isRGB = image.colorSpace == .rgb
            try rows.begin(image.size(of: 0), .rgb8, isRGB ? profile : .sRGB)
            rgbRows = try RGBRows(image, isRGB ? .sRGB : profile)
        }
    }

    mutating func usedRows(of component: Int) -> Range<Int> {
        rows.usedRows(ofPlane: image?.colorSpace == .yCbCr ? component : 0)
    }

    mutating func append(_ row: Span<UInt8>, component: Int) throws(CodecError) {
        switch image?.colorSpace {
        case .gray: try rows.append(row)
        case .yCbCr: try rows.append(row, plane: component)
        default:
            rgbRows?.append(row, component: component)
            while rgbRows?.hasRow == true {
                rgbRows?.makeRow()
                if let row = rgbRows?.row { try rows.append(row.span) }
            }
        }
    }
}

/// Interleaves the rows of components of equal size to rows of RGB.
private struct RGBRows: ~Copyable {
    private(set) var row: [UInt8]
    private let image: ShrunkImage
    private let conversion: CMYKConversion
    private var pending: [[[UInt8]]]
    private var next: [Int]

    init(_ image: ShrunkImage, _ profile: ColorProfile) throws(CodecError) {
        self.image = image
        conversion = try CMYKConversion(profile, isInverted: image.isInverted)
        let count = image.blockSides.count
        pending = Array(repeating: [], count: count)
        next = Array(repeating: 0, count: count)
        row = Array(repeating: 0, count: image.size(of: 0).width * 3)
    }

    mutating func append(_ row: Span<UInt8>, component: Int) {
        pending[component].append(row.indices.map { row[$0] })
    }

    /// Whether a row of every component is available.
    var hasRow: Bool { pending.indices.allSatisfy { next[$0] < pending[$0].count } }

    mutating func makeRow() {
        let parts = pending.indices.map { pending[$0][next[$0]] }
        for component in pending.indices {
            pending[component][next[component]] = []
            next[component] += 1
            if next[component] == pending[component].count {
                pending[component] = []
                next[component] = 0
            }
        }
        let width = row.count / 3
        if image.colorSpace == .rgb {
            for x in 0..<width {
                for c in 0..<3 { row[x * 3 + c] = parts[c][x] }
            }
            return
        }
        var cmyk = [UInt8](repeating: 0, count: width * 4)
        for x in 0..<width {
            for c in 0..<4 { cmyk[x * 4 + c] = parts[c][x] }
            if image.colorSpace == .ycck { Self.convertYCC(&cmyk, x * 4) }
        }
        conversion.convert(cmyk.span, into: &row)
    }

    /// Converts YCbCr to RGB, inverted to CMY.
    private static func convertYCC(_ cmyk: inout [UInt8], _ start: Int) {
        let luma = Double(cmyk[start])
        let (blue, red) = (Double(cmyk[start + 1]) - 128, Double(cmyk[start + 2]) - 128)
        let light = [
            luma + 1.402 * red, luma - 0.344_136 * blue - 0.714_136 * red, luma + 1.772 * blue,
        ]
        for c in 0..<3 {
            cmyk[start + c] = 255 - UInt8(min(max(light[c], 0), 255).rounded())
        }
    }
}
#endif
