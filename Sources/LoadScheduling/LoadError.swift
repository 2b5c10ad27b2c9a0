// SPDX-License-Identifier: Apache-2.0

public import EncodedImages

/// Why a picture was not delivered.
///
/// Each case says who can do something about it.
public enum LoadError: Error, Hashable, Sendable {
    /// There is no such file. Whoever named it.
    case notFound(path: String)
    /// The system does not let the file be read, or it is none. The owner of the file.
    case unreadable(path: String, reason: String)
    /// The file was written to while it was read, more than once. The caller, by asking again later.
    case fileChanged(path: String)
    /// The file was read, but its picture could not be made.
    case decodingFailed(path: String, CodecError)
    /// The picture was made, but could not be written in the format that was asked for.
    case encodingFailed(path: String, CodecError)
    /// Nobody waits any more, or the pipeline has been closed.
    case cancelled
    /// More work waits than the pipeline allows. The caller, by asking again later.
    case queueFull
    /// It needs more memory than all pictures together may take. The caller, by asking for a smaller
    /// picture, or the operator, by raising `MemoryBudget.byteLimit`.
    case memoryBudgetExceeded(needed: Int, allowed: Int)
    /// The rendition store could not be opened. The operator; `reason` is the system's.
    case storeFailed(reason: String)
    /// The address is none, or may not be asked. Whoever named it.
    case addressRefused(url: String, reason: String)
    /// The connection could not be made, or broke. Anybody, by trying again.
    case connectionFailed(url: String, reason: String)
    /// The server took too long. Anybody, by trying again.
    case timedOut(url: String)
    /// The server answered with a status that is no success. The owner of the server.
    case badStatus(url: String, code: Int)
    /// The server's answer breaks HTTP's rules or is no picture. The owner of the server.
    case badResponse(url: String, reason: String)
    /// Only what is kept was asked for, and nothing is. The caller.
    case notKept(url: String)
}

extension LoadError: CustomStringConvertible {
    /// One line in English that names the file.
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
        case .unknownFormat, .malformed, .truncated, .library, .decoderStopped: true
        case .unsupported, .notBuiltIn, .limitExceeded, .cancelled, .file, .fileChanged,
            .sandboxUnavailable:
            false
        }
    }

    /// Whether a smaller picture, or fewer of them, might have been made.
    package var isWantOfRoom: Bool {
        switch self {
        case .memoryBudgetExceeded, .decodingFailed(_, .limitExceeded): true
        default: false
        }
    }

    /// What went wrong below while the picture at `path` was made.
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
