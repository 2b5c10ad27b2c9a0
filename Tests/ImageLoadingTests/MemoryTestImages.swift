// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import ImageTesting
import Pixels
import Synchronization

@testable import ImageLoading

extension ImageKey {
    /// A key that differs from those of other names.
    static func named(
        _ name: String, _ options: DecodeOptions = DecodeOptions(), processors: [String] = []
    ) -> ImageKey {
        ImageKey(original: .named(name), options: options, processors: processors)
    }
}

extension LoadedImage {
    /// An image of so many units of 64 bytes.
    static func units(
        _ count: Int = 1, _ key: ImageKey, isPreview: Bool = false, cost: Duration = .zero
    ) -> LoadedImage {
        let size = PixelSize(width: 64, height: count)
        return LoadedImage(
            TestImage.flat(size, .gray8, [7]), key: key, originalSize: size,
            isPreview: isPreview, cost: cost)
    }
}

extension MemoryCache {
    /// Inserts an image that no view holds.
    @discardableResult
    func put(_ name: String, units: Int = 1, cost: Duration = .zero) -> Bool {
        insert(.units(units, .named(name), cost: cost))
    }

    /// Which of these are there; asking is no use of them.
    func present(_ names: [String]) -> [String] { names.filter { contains(.named($0)) } }
}

/// A clock that stands until it is moved.
final class TestClock: Sendable {
    private let time = Mutex(ContinuousClock.now)

    var now: ContinuousClock.Instant { time.withLock { $0 } }

    func advance(by duration: Duration) { time.withLock { $0 = $0.advanced(by: duration) } }
}
