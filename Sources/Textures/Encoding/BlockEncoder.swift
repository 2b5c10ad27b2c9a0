// SPDX-License-Identifier: Apache-2.0

public import EncodedImages
public import Pixels

/// Encodes the formats whose blocks are independent of each other: BC1, BC3, BC4, BC5, BC7, ETC1, ETC2 and
/// EAC.
///
/// The end points or base colours of a block start at the ends of the principal axis or at the mean. Least
/// squares for the chosen indices, and steps of single channels, then replace them as long as the error
/// decreases.
public struct BlockEncoder {
    /// Returns whether a format is encoded.
    public static func supports(_ format: TextureFormat) -> Bool {
        switch format {
        case .bc1, .bc3, .bc4(isSigned: false), .bc5(isSigned: false), .bc7: true
        case .etc1, .etc2, .etc2Alpha, .eacR(isSigned: false), .eacRG(isSigned: false): true
        default: false
        }
    }

    /// Encodes an image.
    ///
    /// - Parameters:
    ///   - image: the image; samples of more than 8 bits are rounded. BC1, ETC1
    ///     and ETC2 ignore alpha, formats of one channel store red, and those of two red and green.
    ///   - format: a format for which ``supports(_:)`` is true.
    ///   - quality: the effort; BC1, BC3, BC4 and BC5 have one.
    ///   - progress: called with the completed share from 0 to 1; it returns `false` to cancel.
    /// - Returns: the blocks, row by row.
    /// - Throws: `CodecError/cancelled`, or `CodecError/unsupported(feature:)` for another format.
    public static func encode(
        _ image: PixelBuffer, _ format: TextureFormat, _ quality: PVRTCEncoder.Quality = .normal,
        progress: (Double) -> Bool = { _ in true }
    ) throws(CodecError) -> [UInt8] {
        guard supports(format) else {
            throw .unsupported(feature: "encoding of \(format.name)")
        }
        let image = image.converted(to: image.format.hasAlpha ? .rgba8 : .rgb8)
        let blocks = format.blockCount(image.size)
        let encode = blockEncoder(format, quality)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(format.byteCount(image.size))
        for y in 0..<blocks.height {
            guard progress(Double(y) / Double(blocks.height)) else { throw .cancelled }
            for x in 0..<blocks.width {
                let block = encode(texels(image, x * 4, y * 4))
                bytes.append(word: block.0)
                if let second = block.1 { bytes.append(word: second) }
            }
        }
        _ = progress(1)
        return bytes
    }

    /// Returns a function that makes one or two words of a block, whose lowest byte is stored first.
    private static func blockEncoder(
        _ format: TextureFormat, _ quality: PVRTCEncoder.Quality
    ) -> (TexelBlock) -> (UInt64, UInt64?) {
        func channel(_ texels: TexelBlock, _ index: Int) -> UInt64 {
            BCChannel.encoded(InlineArray { texels[$0][index] })
        }
        func eac(_ texels: TexelBlock, _ index: Int) -> UInt64 {
            EACChannel.encoded(
                InlineArray { texels[$0][index] }, isAlpha: index == 3, quality
            ).byteSwapped
        }
        let etc = ETCEncoder.Effort(quality, isETC1: format == .etc1)
        func colors(_ texels: TexelBlock) -> UInt64 {
            quality == .fastest
                ? ETCQuick.encoded(texels, isETC1: etc.isETC1) : ETCEncoder.encoded(texels, etc)
        }
        let bc7 = BC7Encoder.Effort(quality)
        return switch format {
        case .bc1: { (BCColors.encoded($0), nil) }
        case .bc3: { (channel($0, 3), BCColors.encoded($0)) }
        case .bc4: { (channel($0, 0), nil) }
        case .bc5: { (channel($0, 0), channel($0, 1)) }
        case .bc7: { BC7Encoder.encoded($0, bc7) }
        case .etc2Alpha: { (eac($0, 3), colors($0).byteSwapped) }
        case .eacR: { (eac($0, 0), nil) }
        case .eacRG: { (eac($0, 0), eac($0, 1)) }
        default: { (colors($0).byteSwapped, nil) }
        }
    }

    /// Returns the pixels of a block; the last row and column of the image are repeated.
    private static func texels(_ image: PixelBuffer, _ left: Int, _ top: Int) -> TexelBlock {
        var result = TexelBlock(repeating: .opaqueBlack)
        let byteCount = image.format.bytesPerPixel
        for y in 0..<4 {
            let row = image.row(min(top + y, image.size.height - 1))
            for x in 0..<4 {
                let start = min(left + x, image.size.width - 1) * byteCount
                result[y * 4 + x] = Texel(
                    row[start], row[start + 1], row[start + 2],
                    byteCount == 4 ? row[start + 3] : 255)
            }
        }
        return result
    }
}

extension [UInt8] {
    fileprivate mutating func append(word: UInt64) {
        for byte in 0..<8 { append(UInt8(truncatingIfNeeded: word >> UInt64(byte * 8))) }
    }
}
