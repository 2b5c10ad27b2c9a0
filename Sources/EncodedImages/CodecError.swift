// SPDX-License-Identifier: Apache-2.0

/// Why an image could not be decoded or encoded.
///
/// Each case says who can do something about it.
public enum CodecError: Error, Hashable, Sendable {
    /// The bytes are of no format that was built in. Whoever gave them: it may not be a picture.
    case unknownFormat
    /// The file breaks its format's rules near `offset`, in bytes. Nobody: the file is bad.
    case malformed(reason: String, offset: Int)
    /// The file ends early, after `byteCount` bytes. The caller, by asking again with all of it.
    case truncated(byteCount: Int)
    /// The file is valid, but this codec lacks `feature`. We can.
    case unsupported(feature: String)
    /// The format is known, but this program was built without it. Whoever builds it, by enabling
    /// the trait.
    case notBuiltIn(format: String, trait: String)
    /// It needs more than ``DecodeLimits`` allow. The operator, by raising that limit.
    case limitExceeded(DecodeLimits.Name, needed: Int, allowed: Int)
    /// Nobody waits for the picture any more.
    case cancelled
    /// The file could not be read or written. The owner of the file; `reason` is the system's.
    case file(reason: String)
    /// Another process wrote to the file or cut it short while it was read. The caller, by trying again.
    case fileChanged
    /// The C library failed for a reason of its own, such as a lack of memory.
    case library(message: String)
    /// The process that decoded the picture had to be stopped, or stopped by itself. Nobody: the
    /// file is bad, or was made to do harm; what a decoder does wrong with it is for us to mend.
    case decoderStopped(DecoderStop)
    /// There is no process to decode in. The operator, by what `reason` says.
    case sandboxUnavailable(reason: String)
}

extension CodecError: CustomStringConvertible {
    /// One line in English, without the file's name, which only the caller knows.
    public var description: String {
        switch self {
        case .unknownFormat: "not a picture in a format that is known here"
        case .malformed(let reason, let offset): "damaged near byte \(offset): \(reason)"
        case .truncated(let byteCount): "cut short: ends after \(byteCount) bytes"
        case .unsupported(let feature): "not supported: \(feature)"
        case .notBuiltIn(let format, let trait):
            "\(format) support was not built in: enable the trait \(trait)"
        case .limitExceeded(let name, let needed, let allowed):
            "over the limit \(name.rawValue): needs \(needed), allowed are \(allowed)"
        case .cancelled: "cancelled"
        case .file(let reason): reason
        case .fileChanged: "the file changed while it was read"
        case .library(let message): "the decoding library failed: \(message)"
        case .decoderStopped(let stop): "the decoder was stopped: \(stop)"
        case .sandboxUnavailable(let reason): "no sandbox to decode in: \(reason)"
        }
    }
}

/// Why a process that decodes pictures ended in the middle of one.
public enum DecoderStop: Hashable, Sendable {
    /// It crashed with that signal of the system.
    case crash(signal: Int32)
    /// It called for something of the system that no decoder needs.
    case forbidden
    /// It needed more memory than it may have.
    case memory
    /// It took longer than that many seconds.
    case deadline(seconds: Double)
    /// It answered something that no decoder answers.
    case nonsense(reason: String)
    /// Somebody else killed it, which says nothing about the picture.
    case killed
    /// The same bytes stopped a decoder not long ago, and are not tried again for a while.
    case known
}

extension DecoderStop: CustomStringConvertible {
    public var description: String {
        switch self {
        case .crash(let signal): "it crashed (signal \(signal))"
        case .forbidden: "it tried what a decoder must not do"
        case .memory: "it needed too much memory"
        case .deadline(let seconds): "it took more than \(seconds) s"
        case .nonsense(let reason): "its answer made no sense: \(reason)"
        case .killed: "somebody killed it"
        case .known: "the same file stopped one before"
        }
    }
}
