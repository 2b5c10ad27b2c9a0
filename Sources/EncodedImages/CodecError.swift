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
    /// The C library failed for a reason of its own, such as a lack of memory.
    case library(message: String)
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
        case .library(let message): "the decoding library failed: \(message)"
        }
    }
}
