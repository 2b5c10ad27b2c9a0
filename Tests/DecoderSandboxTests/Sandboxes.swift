// SPDX-License-Identifier: Apache-2.0

import DecoderSandbox
import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

/// Sandboxes whose worker also knows files that say what is to be done to the host.
enum Sandboxes {
    static func make(
        _ change: (inout DecoderSandbox.Configuration) -> Void = { _ in }
    ) throws -> DecoderSandbox {
        let worker = try #require(builtProgram("TestHelper"))
        var configuration = DecoderSandbox.Configuration(workerPath: worker.path, workerCount: 2)
        change(&configuration)
        return DecoderSandbox(configuration)
    }

    static func codecs(_ sandbox: DecoderSandbox) -> CodecSet {
        builtInCodecs.adding([HostileFormat()]).decoded(by: sandbox)
    }

    /// The workers of the sandbox whose program has this name.
    static func workers(_ name: String) -> [Int32] {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return processes.compactMap { Int32($0) }.filter { process in
            let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
            let fields = status?.split(separator: ")").last?.split(separator: " ") ?? []
            return fields.count > 1 && fields[1] == "\(getpid())" && fields[0] != "Z"
                && status?.contains("(\(name))") == true
        }
    }

    /// A file that makes the worker do something; 64 grey pixels of 7 if that is nothing bad.
    static func hostile(_ word: String) -> EncodedBytes {
        EncodedBytes(Array("HOSTILE \(word)".utf8))
    }

    /// So large that the pixels do not go through the room that a worker always has.
    static var large: DecodeOptions {
        var options = DecodeOptions(maximumSide: 2000)
        options.allowsEnlarging = true
        return options
    }

    /// Why there was no picture.
    static func error(
        _ word: String, _ sandbox: DecoderSandbox, _ options: DecodeOptions = DecodeOptions(),
        cancellation: CancellationFlag? = nil
    ) -> CodecError? {
        let result = image(word, sandbox, options, cancellation: cancellation)
        guard case .failure(let error) = result else { return nil }
        return error
    }

    static func image(
        _ word: String, _ sandbox: DecoderSandbox, _ options: DecodeOptions = DecodeOptions(),
        cancellation: CancellationFlag? = nil
    ) -> Result<PixelBuffer, CodecError> {
        Result { () throws(CodecError) in
            try ImageSource(hostile(word), codecs: codecs(sandbox))
                .image(options, cancellation: cancellation)
        }
    }
}

/// The name of the format, without anything that reads it.
private struct HostileFormat: ImageCodec {
    let format = ImageFormat(
        name: "hostile", extensions: ["hostile"], mediaType: "image/x-hostile", signatures: [])
    let decoder: any ImageDecoder = Nothing()
    let encoder: (any ImageEncoder)? = nil

    private struct Nothing: ImageDecoder {
        func header(
            of bytes: Span<UInt8>, limits: DecodeLimits
        ) throws(CodecError) -> ImageHeader { throw .unknownFormat }

        func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
            throw .unknownFormat
        }
    }
}
