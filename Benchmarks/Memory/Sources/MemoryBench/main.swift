// SPDX-License-Identifier: Apache-2.0

// Measures what finding a picture in the memory cache costs.
//
// Build it with `swift build -c release`. Argument: a file, for the length of whose path keys are hashed.

import CAllocationCount
import EncodedImages
import ImageLoading
import Pixels

let hitCount = 1_000_000
let original = OriginalIdentity.file(try FileIdentity(path: CommandLine.arguments[1]))
let picture = MutablePixelBuffer(size: PixelSize(width: 8, height: 8), format: .rgb8).finish()
let keys = (1...4096).map {
    ImageKey(original: original, options: DecodeOptions(maximumSide: $0))
}
let order = (0..<4096).map { _ in Int.random(in: keys.indices) }
let cache = MemoryCache(byteLimit: 1 << 30)
for key in keys {
    cache.insert(LoadedImage(picture, key: key, originalSize: picture.size))
}
for _ in 0..<5 {
    let before = calotype_allocation_count()
    let time = ContinuousClock().measure {
        for index in 0..<hitCount {
            precondition(cache.image(for: keys[order[index % order.count]]) != nil, "a miss")
        }
    }
    let allocations = Double(calotype_allocation_count() - before) / Double(hitCount)
    print("hit: \(time / .nanoseconds(hitCount)) ns, \(allocations) allocations")
}
