// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import ImageCodecs
import ImageTesting
import Pixels

@testable import ImageLoading

/// Shared parts of the tests of tiled images.
struct TileMaker {
    let codec: FormulaCodec
    var store: any TileStore = MemoryTileStore()
    let queue = TileQueue(threadCount: 1)
    var configuration = TiledImage.Configuration()

    init(_ codec: FormulaCodec = FormulaCodec(), tileSide: Int = 64) {
        self.codec = codec
        configuration.tileSide = tileSide
        configuration.opaqueFormat = "png"
        configuration.directPixelCount = 0
    }

    var codecs: CodecSet { builtInCodecs.adding([codec]) }

    func image(
        _ file: EncodedBytes, limits: DecodeLimits = DecodeLimits(),
        storedIndex: StoredIndex? = nil
    ) throws -> TiledImage {
        try TiledImage(
            ImageSource(file, codecs: codecs, limits: limits), name: "picture", codecs: codecs,
            store: store, queue: queue, configuration: configuration,
            storedIndex: storedIndex)
    }

    /// Every level by the definition: the whole image upright, and means of means.
    func levels(_ file: EncodedBytes, count: Int) throws -> [PixelBuffer] {
        var levels = [try ImageSource(file, codecs: codecs).image()]
        while levels.count < count { levels.append(levels[levels.count - 1].halved) }
        return levels
    }
}

extension PixelBuffer {
    /// Means of 2×2 pixels, or of as many as there are.
    var halved: PixelBuffer {
        let channelCount = format.channelCount
        let half = size.shrunk(by: 2)
        var bytes: [UInt8] = []
        for y in 0..<half.height {
            for index in 0..<half.width * channelCount {
                let (x, channel) = (index / channelCount, index % channelCount)
                var (sum, count) = (0, 0)
                for row in 2 * y..<min(2 * y + 2, size.height) {
                    for column in 2 * x..<min(2 * x + 2, size.width) {
                        sum += Int(self.row(row)[column * channelCount + channel])
                        count += 1
                    }
                }
                bytes.append(UInt8((2 * sum + count) / (2 * count)))
            }
        }
        return PixelBuffer(packed: bytes, half, format)
    }
}
