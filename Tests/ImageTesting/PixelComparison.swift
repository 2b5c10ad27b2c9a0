// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// The differences between two images.
public struct PixelComparison: CustomStringConvertible {
    /// The maximum difference of two samples, or 256 if the images differ in shape.
    public private(set) var maximumDifference = 0
    /// The mean of all absolute differences.
    public private(set) var meanDifference = 0.0
    /// The position of the maximum difference.
    public private(set) var worst = ""

    public init(_ a: PixelBuffer, _ b: PixelBuffer) {
        guard a.size == b.size, a.format == b.format else {
            maximumDifference = 256
            worst = "\(a.size) \(a.format) against \(b.size) \(b.format)"
            return
        }
        var total = 0
        var count = 0
        for plane in 0..<a.format.planeCount {
            let channelCount = a.format.plane(plane).channelCount
            for y in 0..<a.layout(ofPlane: plane).size.height {
                let (left, right) = (a.row(y, plane: plane), b.row(y, plane: plane))
                count += left.count
                for index in left.indices {
                    let difference = abs(Int(left[index]) - Int(right[index]))
                    total += difference
                    if difference > maximumDifference {
                        maximumDifference = difference
                        worst =
                            "x \(index / channelCount), y \(y), "
                            + "channel \(plane + index % channelCount)"
                    }
                }
            }
        }
        meanDifference = Double(total) / Double(max(1, count))
    }

    public var description: String {
        "largest difference \(maximumDifference) at \(worst), mean \(meanDifference)"
    }
}

extension PixelBuffer {
    /// All bytes without padding, plane by plane.
    public var packedBytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(byteCount)
        for plane in 0..<format.planeCount {
            for y in 0..<layout(ofPlane: plane).size.height {
                let row = row(y, plane: plane)
                for index in row.indices { bytes.append(row[index]) }
            }
        }
        return bytes
    }

    /// Creates an image from pixels without padding.
    public init(packed bytes: [UInt8], _ size: PixelSize, _ format: PixelFormat) {
        let rowByteCount = size.width * format.bytesPerPixel
        precondition(bytes.count == rowByteCount * size.height, "the pixels do not fill the size")
        var buffer = MutablePixelBuffer(size: size, format: format)
        for y in 0..<size.height {
            buffer.withMutableRow(y) { row in
                for index in 0..<rowByteCount { row[index] = bytes[y * rowByteCount + index] }
            }
        }
        self = buffer.finish()
    }

    /// Returns the image as premultiplied RGBA.
    public var asRGBA: PixelBuffer {
        guard format != .yCbCr420 else { return convertedFromYCbCr().asRGBA }
        let channelCount = format.channelCount
        var bytes: [UInt8] = []
        let packed = packedBytes
        for pixel in stride(from: 0, to: packed.count, by: channelCount) {
            switch channelCount {
            case 1: bytes += [packed[pixel], packed[pixel], packed[pixel], 255]
            case 3: bytes += packed[pixel..<pixel + 3] + [255]
            default: bytes += packed[pixel..<pixel + 4]
            }
        }
        return PixelBuffer(packed: bytes, size, .rgba8)
    }
}
