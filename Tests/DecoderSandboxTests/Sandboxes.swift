// SPDX-License-Identifier: Apache-2.0

import DecoderSandbox
import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

/// Sandboxes whose worker also decodes the attack files of `HostileCodec`.
enum Sandboxes {
    static func make(
        _ change: (inout DecoderSandbox.Configuration) -> Void = { _ in }
    ) throws -> DecoderSandbox {
        let worker = try #require(builtProgram("TestHelper"))
        var configuration = DecoderSandbox.Configuration(workerPath: worker.path, workerCount: 2)
        // As in a server.
        configuration.formats = { work in
            switch work {
            case .decode(let file): sharedSandboxFormats(toDecode: file)
            case .encode(let format): sharedSandboxFormats(toEncode: format)
            case .convertColors: sharedSandboxFormats
            }
        }
        change(&configuration)
        return DecoderSandbox(configuration)
    }

    static func codecs(_ sandbox: DecoderSandbox) -> CodecSet {
        builtInCodecs.adding([HostileFormat()]).decoded(by: sandbox)
    }

    /// Returns the process identifiers of the workers whose program has this name.
    static func workers(_ name: String) -> [Int32] {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return processes.compactMap { Int32($0) }.filter { process in
            let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
            let fields = status?.split(separator: ")").last?.split(separator: " ") ?? []
            return fields.count > 1 && fields[1] == "\(getpid())" && fields[0] != "Z"
                && status?.contains("(\(name))") == true
        }
    }

    /// Returns the niceness of a process; `nil` if it has ended.
    static func niceness(_ process: Int32) -> Int? {
        let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        let fields = status?.split(separator: ")").last?.split(separator: " ") ?? []
        return fields.count > 16 ? Int(fields[16]) : nil
    }

    /// Returns a file that makes the worker perform an action, or decode to 64 grey pixels of 7.
    static func hostile(_ word: String) -> EncodedBytes {
        EncodedBytes(Array("HOSTILE \(word)".utf8))
    }

    /// Options of a result that exceeds the permanently shared memory of a worker.
    static var large: DecodeOptions {
        var options = DecodeOptions(maximumSide: 2000)
        options.allowsEnlarging = true
        return options
    }

    /// Returns the error of a decode, or `nil` if it succeeded.
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

/// The format of attack files, without a decoder in this process.
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
