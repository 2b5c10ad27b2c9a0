// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Foundation
internal import ImageLoading
internal import ImageTesting
internal import Pixels

enum PyramidWriter {
    /// Makes the tiles of a computed image and prints the peak memory in KiB.
    ///
    /// - Parameter arguments: the folder of the store, and the width, height and channel count of
    ///   the image.
    /// - Throws: an error if the store cannot be written.
    static func run(_ arguments: [String]) async throws {
        let numbers = arguments.dropFirst().compactMap { Int($0) }
        let size = PixelSize(width: numbers[0], height: numbers[1])
        let codecs = CodecSet([FormulaCodec()])
        var configuration = TiledImage.Configuration()
        configuration.directPixelCount = 0
        configuration.opaqueFormat = "rows"
        configuration.alphaFormat = "rows"
        var limits = DecodeLimits()
        limits.maximumPixelCount = .max
        limits.maximumSide = .max
        let queue = TileQueue()
        let image = try TiledImage(
            ImageSource(
                FormulaCodec.file(size, channelCount: numbers[2]), codecs: codecs,
                limits: limits),
            name: "\(size)", codecs: codecs, store: FolderTileStore(directory: arguments[0]),
            queue: queue, configuration: configuration)
        try await image.makeTiles()
        await queue.close()
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let peak = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }?.filter(
            \.isNumber)
        print(peak ?? "")
    }
}
