// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageLoading
import Pixels
import Synchronization

@testable import CalotypeServer

/// A clock that advances only by waiting and simulated work.
final class FakeFrameClock: Sendable {
    private let time = Mutex(Duration.zero)

    func work(_ duration: Duration) { time.withLock { $0 += duration } }

    var clock: FrameClock {
        FrameClock(
            now: { self.time.withLock { $0 } },
            wait: { end in self.time.withLock { $0 = max($0, end) } })
    }
}

/// A design whose images are set by a test.
final class FakeImages: ScrollImages {
    private let ledger: ImageLedger
    /// Called before each frame.
    var work: (ScrollFrame) -> Void = { _ in }
    var shown: (Int) -> ShownImage? = { _ in nil }
    private(set) var frames: [ScrollFrame] = []
    private(set) var hasEnded = false

    init(_ ledger: ImageLedger) { self.ledger = ledger }

    static func image(_ name: String, side: Int = 4) -> LoadedImage {
        let size = PixelSize(width: side, height: side)
        return LoadedImage(
            MutablePixelBuffer(size: size, format: .rgba8).finish(),
            key: ImageKey(original: .named(name), options: DecodeOptions()), originalSize: size)
    }

    func update(_ frame: ScrollFrame) {
        frames.append(frame)
        work(frame)
    }

    func image(for item: Int) -> ShownImage? { shown(item) }

    func end() async { hasEnded = true }
}
