// SPDX-License-Identifier: Apache-2.0

/// The reason why an image could not be decoded or encoded.
///
/// Each case names the actor who can do something about it.
public enum CodecError: Error, Hashable, Sendable {
    /// The bytes are in no known format. The client, by sending an image.
    case unknownFormat
    /// There are no bytes. The client, by sending an image; often a copy that was interrupted.
    case empty
    /// The file violates the rules of its format near `offset`, in bytes; 0 if the decoder does not know
    /// where. The file's author.
    case malformed(reason: String, offset: Int)
    /// The file ends early, after `byteCount` bytes. The caller, by passing all of it.
    case truncated(byteCount: Int)
    /// The file is valid, but the codec does not support `feature`. Calotype's developers.
    case unsupported(feature: String)
    /// The format is known, but its codec was not built in. The packager, by enabling `trait`.
    case notBuiltIn(format: String, trait: String)
    /// The file needs more than ``DecodeLimits`` allow. The operator, by raising that limit.
    case limitExceeded(DecodeLimits.Name, needed: Int, allowed: Int)
    /// The caller cancelled the work.
    case cancelled
    /// The file could not be read or written. The file's owner; `reason` is the system's.
    case file(reason: String)
    /// Another process wrote to the file or truncated it while it was read. The caller, by trying
    /// again.
    case fileChanged
    /// The C library failed for a reason of its own. The operator, who can add memory or install the
    /// library that `message` names.
    case library(message: String)
    /// The process that decoded the image was stopped, or stopped by itself. The file's author: the
    /// file is damaged or malicious. Calotype's developers, who fix the decoder.
    case decoderStopped(DecoderStop)
    /// No process to decode in can be started. The operator, by removing the cause in `reason`.
    case sandboxUnavailable(reason: String)
}

extension CodecError: CustomStringConvertible {
    /// One line in English, without the name of the file, which only the caller has.
    public var description: String {
        switch self {
        case .unknownFormat: "unknown image format"
        case .empty: "an empty file"
        case .malformed(let reason, 0): "damaged: \(reason)"
        case .malformed(let reason, let offset): "damaged near byte \(offset): \(reason)"
        case .truncated(let byteCount): "truncated after \(byteCount) bytes"
        case .unsupported(let feature): "not supported: \(feature)"
        case .notBuiltIn(let format, let trait):
            "\(format) support was not built in: enable the trait \(trait)"
        case .limitExceeded(let name, let needed, let allowed):
            "limit \(name.rawValue) exceeded: \(needed) needed, \(allowed) allowed"
        case .cancelled: "cancelled"
        case .file(let reason): reason
        case .fileChanged: "the file changed while it was read"
        case .library(let message): "the image library failed: \(message)"
        case .decoderStopped(let stop): "the decoder was stopped: \(stop)"
        case .sandboxUnavailable(let reason): "no sandbox to decode in: \(reason)"
        }
    }
}

/// The reason why a decoding process ended while it decoded an image.
public enum DecoderStop: Hashable, Sendable {
    /// The process crashed with this signal.
    case crash(signal: Int32)
    /// The process made a system call that no decoder needs.
    case forbidden
    /// The process exceeded its memory limit.
    case memory
    /// The process exceeded its deadline in seconds.
    case deadline(seconds: Double)
    /// The process sent an invalid response.
    case nonsense(reason: String)
    /// Another process killed it, for a reason unrelated to the image.
    case killed
    /// The same bytes stopped a decoder recently; they are not decoded again for a while.
    case known
}

extension DecoderStop: CustomStringConvertible {
    /// The reason in English, in less than a line.
    public var description: String {
        switch self {
        case .crash(let signal): "it crashed (signal \(signal))"
        case .forbidden: "it made a forbidden system call"
        case .memory: "it exceeded its memory limit"
        case .deadline(let seconds): "it took more than \(seconds) s"
        case .nonsense(let reason): "it sent an invalid response: \(reason)"
        case .killed: "another process killed it"
        case .known: "the same file stopped one before"
        }
    }
}
