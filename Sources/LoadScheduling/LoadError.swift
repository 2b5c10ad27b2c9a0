// SPDX-License-Identifier: Apache-2.0

public import EncodedImages

/// The reason why an image was not delivered.
///
/// Each case names the party that can correct it.
public enum LoadError: Error, Hashable, Sendable {
    /// The file does not exist. The caller, by passing another path.
    case notFound(path: String)
    /// The file cannot be read, or is not a regular file. The owner of the file.
    case unreadable(path: String, reason: String)
    /// The file was changed while it was read, more than once. The caller, by trying again later.
    case fileChanged(path: String)
    /// The file was read, but its image could not be decoded. The owner of the file.
    case decodingFailed(path: String, CodecError)
    /// The image was made, but could not be encoded in the requested format. The caller.
    case encodingFailed(path: String, CodecError)
    /// The task was cancelled, or the pipeline has been closed.
    case cancelled
    /// The maximum number of pieces of work waits. The caller, by trying again later.
    case queueFull
    /// It needs more memory than all images together may take. The caller, by asking for a smaller
    /// image, or the operator, by raising `MemoryBudget.byteLimit`.
    case memoryBudgetExceeded(needed: Int, allowed: Int)
    /// The rendition store could not be opened. The operator; `reason` is the error of the system.
    case storeFailed(reason: String)
    /// The URL is invalid, or requests to it are not allowed. The caller, by passing another URL.
    case addressRefused(url: String, reason: String)
    /// The connection failed. The caller, by trying again.
    case connectionFailed(url: String, reason: String)
    /// The server took too long. The caller, by trying again.
    case timedOut(url: String)
    /// The server returned an error status. The owner of the server.
    case badStatus(url: String, code: Int)
    /// The response violates HTTP or is not an image. The owner of the server.
    case badResponse(url: String, reason: String)
    /// Only a stored response was accepted, and there is none. The caller.
    case notKept(url: String)
}

extension LoadError: CustomStringConvertible {
    /// One line in English that contains the path or the URL.
    public var description: String {
        switch self {
        case .notFound(let path): "\(path): no such file"
        case .unreadable(let path, let reason): "\(path): \(reason)"
        case .fileChanged(let path): "\(path): \(CodecError.fileChanged)"
        case .decodingFailed(let path, let error): "\(path): \(error)"
        case .encodingFailed(let path, let error): "\(path): could not be written: \(error)"
        case .cancelled: "cancelled"
        case .queueFull: "too much work is waiting"
        case .memoryBudgetExceeded(let needed, let allowed):
            "needs \(needed) bytes of memory, allowed are \(allowed)"
        case .storeFailed(let reason): "the rendition store cannot be used: \(reason)"
        case .addressRefused(let url, let reason), .connectionFailed(let url, let reason),
            .badResponse(let url, let reason):
            "\(url): \(reason)"
        case .timedOut(let url): "\(url): timed out"
        case .badStatus(let url, let code): "\(url): the server answered \(code)"
        case .notKept(let url): "\(url): not kept"
        }
    }

    /// Whether the bytes are what is wrong.
    package var isDamage: Bool {
        guard case .decodingFailed(_, let error) = self else { return false }
        return switch error {
        case .decoderStopped(.killed): false
        case .unknownFormat, .empty, .malformed, .truncated, .library, .decoderStopped: true
        case .unsupported, .notBuiltIn, .limitExceeded, .cancelled, .file, .fileChanged,
            .sandboxUnavailable:
            false
        }
    }

    /// Whether a smaller image, or fewer of them, might have been made.
    package var isMemoryShortage: Bool {
        switch self {
        case .memoryBudgetExceeded, .decodingFailed(_, .limitExceeded): true
        default: false
        }
    }

    /// What went wrong below while the image at `path` was made.
    package init(decoding path: String, _ error: CodecError) {
        self =
            switch error {
            case .cancelled: .cancelled
            case .file(let reason): .unreadable(path: path, reason: reason)
            case .fileChanged: .fileChanged(path: path)
            default: .decodingFailed(path: path, error)
            }
    }
}
