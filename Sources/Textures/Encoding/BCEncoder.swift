// SPDX-License-Identifier: Apache-2.0

public import EncodedImages
public import Pixels

/// Encodes BC1, BC3, BC4 and BC5.
///
/// The end points of the colours of a block start at the ends of the principal axis. Least squares for the
/// chosen indices, and steps of single channels, then replace them as long as the exact error decreases.
/// Those of a single channel are the best near its extremes. Blocks are independent of each other.
public struct BCEncoder {
    /// Returns whether a format is encoded.
    public static func supports(_ format: TextureFormat) -> Bool {
        switch format {
        case .bc1, .bc3, .bc4(isSigned: false), .bc5(isSigned: false): true
        default: false
        }
    }

    /// Encodes an image.
    ///
    /// - Parameters:
    ///   - image: the image; samples of more than 8 bits are rounded. BC1 ignores alpha, BC4 stores red
    ///     and BC5 red and green.
    ///   - format: a format for which ``supports(_:)`` is true.
    ///   - progress: called with the completed share from 0 to 1; it returns `false` to cancel.
    /// - Returns: the blocks, row by row.
    /// - Throws: `CodecError/cancelled`, or `CodecError/unsupported(feature:)` for another format.
    public static func encode(
        _ image: PixelBuffer, _ format: TextureFormat,
        progress: (Double) -> Bool = { _ in true }
    ) throws(CodecError) -> [UInt8] {
        guard supports(format) else {
            throw .unsupported(feature: "encoding of \(format.name)")
        }
        let image = image.converted(to: image.format.hasAlpha ? .rgba8 : .rgb8)
        let blocks = format.blockCount(image.size)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(format.byteCount(image.size))
        for y in 0..<blocks.height {
            guard progress(Double(y) / Double(blocks.height)) else { throw .cancelled }
            for x in 0..<blocks.width {
                let texels = texels(image, x * 4, y * 4)
                func channel(_ index: Int) -> UInt64 {
                    BCChannel.encoded(InlineArray { texels[$0][index] })
                }
                let words: [UInt64] =
                    switch format {
                    case .bc1: [BCColors.encoded(texels)]
                    case .bc3: [channel(3), BCColors.encoded(texels)]
                    case .bc4: [channel(0)]
                    default: [channel(0), channel(1)]
                    }
                for word in words {
                    for byte in 0..<8 {
                        bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(byte * 8)))
                    }
                }
            }
        }
        _ = progress(1)
        return bytes
    }

    /// Returns the pixels of a block; the last row and column of the image are repeated.
    private static func texels(_ image: PixelBuffer, _ left: Int, _ top: Int) -> TexelBlock {
        var result = TexelBlock(repeating: .opaqueBlack)
        let byteCount = image.format.bytesPerPixel
        for y in 0..<4 {
            let row = image.row(min(top + y, image.size.height - 1))
            for x in 0..<4 {
                let start = min(left + x, image.size.width - 1) * byteCount
                for channel in 0..<byteCount {
                    result[y * 4 + x][channel] = row[start + channel]
                }
            }
        }
        return result
    }
}
