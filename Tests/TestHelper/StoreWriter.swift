// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Foundation
internal import ImageLoading
internal import ImageTesting
internal import Logging
internal import Pixels

enum StoreWriter {
    /// Writes renditions to a store until the process is killed, and prints a line after each.
    ///
    /// - Parameter arguments: the folder of the store, its limit in bytes, a random seed, and the
    ///   paths of the originals.
    /// - Throws: an error if the store cannot be written or an original cannot be read.
    static func run(_ arguments: [String]) async throws {
        let originals = arguments.dropFirst(3)
        guard let byteLimit = Int(arguments[1]), let seed = UInt64(arguments[2]) else {
            fatalError("invalid arguments: the limit and the seed must be integers")
        }
        let logger = Logger(label: "store-writer") { _ in SwiftLogNoOpLogHandler() }
        var configuration = ImagePipeline.Configuration()
        configuration.store = try RenditionStore(
            directory: arguments[0], byteLimit: byteLimit, logger: logger)
        let pipeline = ImagePipeline(
            codecs: CodecSet([FakeCodec()]), configuration: configuration, logger: logger)
        var random = SeededRandom(seed: seed)

        while let path = originals.randomElement(using: &random) {
            let box = PixelSize(
                width: .random(in: 1...300, using: &random),
                height: .random(in: 1...300, using: &random))
            let image = ImageRequest(path: path, options: DecodeOptions(box: box))
            let rendition = try await pipeline.rendition(
                for: RenditionRequest(image: image, format: "fake"))
            let line = Data("\(rendition.bytes.count)\n".utf8)
            // Until the test closes the pipe, which precedes the signal that ends this program.
            guard (try? FileHandle.standardOutput.write(contentsOf: line)) != nil else { return }
        }
    }
}
