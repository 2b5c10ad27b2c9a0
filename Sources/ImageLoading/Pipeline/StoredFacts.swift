// SPDX-License-Identifier: Apache-2.0

internal import HTTPCaching
internal import Pixels

/// The facts that the file of a stored image does not contain: five little-endian integers of eight
/// bytes.
struct StoredFacts: Equatable {
    static let byteCount = 40

    let originalSize: PixelSize
    let isOriginalScalable: Bool
    let freshUntil: Int
    let originalFrameCount: Int

    var bytes: [UInt8] {
        [
            originalSize.width, originalSize.height, isOriginalScalable ? 1 : 0, freshUntil,
            originalFrameCount,
        ].flatMap { number in
            (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }
    }
}

extension StoredFacts {
    init(_ image: LoadedImage) {
        self.init(
            originalSize: image.originalSize, isOriginalScalable: image.isOriginalScalable,
            freshUntil: image.storability.freshUntil,
            originalFrameCount: image.originalFrameCount)
    }

    /// Fails if no file follows the facts, or a side of the image is out of range.
    init?(_ bytes: [UInt8]) {
        guard bytes.count > Self.byteCount else { return nil }
        let numbers = (0..<5).map { number in
            (0..<8).reversed().reduce(0) { $0 << 8 | Int(bytes[number * 8 + $1]) }
        }
        let sides = 1...Int(Int32.max)
        guard sides ~= numbers[0], sides ~= numbers[1], numbers[4] > 0 else { return nil }
        self.init(
            originalSize: PixelSize(width: numbers[0], height: numbers[1]),
            isOriginalScalable: numbers[2] != 0, freshUntil: numbers[3],
            originalFrameCount: numbers[4])
    }
}
