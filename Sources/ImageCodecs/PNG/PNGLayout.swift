// SPDX-License-Identifier: Apache-2.0

#if PNG
internal import EncodedImages
internal import Pixels

/// The layout of samples in a file, as `IHDR` specifies it (ISO/IEC 15948, 11.2.2).
struct PNGLayout {
    enum ColorType: UInt8 {
        case gray = 0
        case rgb = 2
        case palette = 3
        case grayAlpha = 4
        case rgba = 6
    }

    var size: PixelSize
    let bitDepth: Int
    let colorType: ColorType
    let isInterlaced: Bool

    init(_ file: Span<UInt8>, _ body: Range<Int>) throws(CodecError) {
        let start = body.lowerBound
        guard body.count == 13, let width = file.integer(at: start, byteCount: 4),
            let height = file.integer(at: start + 4, byteCount: 4)
        else { throw .malformed(reason: "invalid IHDR length \(body.count)", offset: start) }
        guard (1...Int(Int32.max)).contains(width), (1...Int(Int32.max)).contains(height)
        else {
            throw .malformed(reason: "invalid IHDR size: \(width) × \(height)", offset: start)
        }
        size = PixelSize(width: width, height: height)
        bitDepth = Int(file[start + 8])
        guard let colorType = ColorType(rawValue: file[start + 9]),
            Self.depths(colorType).contains(bitDepth)
        else {
            throw .malformed(
                reason: "invalid colour type \(file[start + 9]) with bit depth \(bitDepth)",
                offset: start + 8)
        }
        self.colorType = colorType
        guard file[start + 10] == 0, file[start + 11] == 0, file[start + 12] <= 1 else {
            throw .malformed(
                reason: "unknown compression, filter or interlace method", offset: start + 10)
        }
        isInterlaced = file[start + 12] == 1
    }

    var channelCount: Int {
        switch colorType {
        case .gray, .palette: 1
        case .grayAlpha: 2
        case .rgb: 3
        case .rgba: 4
        }
    }

    /// The number of bytes from a pixel to its left neighbour, at least 1.
    var filterDistance: Int { max(1, channelCount * bitDepth / 8) }

    /// Returns the number of bytes of a row of `width` pixels, without its filter type.
    func rowByteCount(width: Int) -> Int { (width * channelCount * bitDepth + 7) / 8 }

    private static func depths(_ type: ColorType) -> [Int] {
        switch type {
        case .gray: [1, 2, 4, 8, 16]
        case .palette: [1, 2, 4, 8]
        case .rgb, .grayAlpha, .rgba: [8, 16]
        }
    }
}
#endif
