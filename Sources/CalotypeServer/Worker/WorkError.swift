// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import ImageCommands
internal import LoadScheduling

/// The reason why a request to a worker failed.
struct WorkError: Error {
    /// Who can act.
    enum Kind: String {
        /// The request is invalid: the client.
        case request
        /// The source cannot be read or loaded: its owner.
        case unreachable
        /// The source violates its format, or is in no known format: its author.
        case damaged
        /// The source ends early: the client, by passing all of it.
        case truncated
        /// The source needs a feature that this build lacks: the packager or the developers.
        case unsupported
        /// The source needs more than the limits allow: the operator.
        case limit
        /// The deadline has passed: the client, by allowing more time.
        case timeout
        /// The source stopped the process that decoded it: its author, or the developers.
        case crashed
        /// An output cannot be written: the owner of its folder.
        case destination
        /// A library or the sandbox failed: the operator.
        case environment
    }

    let kind: Kind
    let message: String
    /// Whether the same request may succeed later.
    let isTemporary: Bool

    init(_ kind: Kind, _ message: String, isTemporary: Bool = false) {
        self.kind = kind
        self.message = message
        self.isTemporary = isTemporary
    }

    init(_ failure: OutputFailure) {
        switch failure {
        case .source(let error), .output(_, let error): self.init(error, "\(failure)")
        // The version of the source is compared before a file is written.
        case .destination(_, .fileChanged): self.init(.fileChanged, "\(CodecError.fileChanged)")
        case .destination: self.init(.destination, "\(failure)")
        }
    }

    init(_ error: CodecError, _ message: String) {
        switch error {
        case .unknownFormat, .empty, .malformed: self.init(.damaged, message)
        case .truncated: self.init(.truncated, message)
        case .unsupported, .notBuiltIn: self.init(.unsupported, message)
        case .limitExceeded, .decoderStopped(.memory): self.init(.limit, message)
        case .cancelled, .decoderStopped(.deadline): self.init(.timeout, message)
        case .file: self.init(.unreachable, message)
        case .fileChanged: self.init(.unreachable, message, isTemporary: true)
        case .library: self.init(.environment, message)
        case .sandboxUnavailable: self.init(.environment, message, isTemporary: true)
        case .decoderStopped(.killed): self.init(.crashed, message, isTemporary: true)
        case .decoderStopped: self.init(.crashed, message)
        }
    }

    init(_ error: LoadError) {
        switch error {
        case .addressRefused: self.init(.request, "\(error)")
        case .decodingFailed(_, let inner): self.init(inner, "\(error)")
        case .badStatus(_, let code):
            self.init(.unreachable, "\(error)", isTemporary: code >= 500 || code == 429)
        case .connectionFailed, .timedOut:
            self.init(.unreachable, "\(error)", isTemporary: true)
        case .cancelled: self.init(.timeout, "\(error)")
        default: self.init(.unreachable, "\(error)")
        }
    }

    var json: JSON {
        .object([
            .init("kind", .string(kind.rawValue)), .init("message", .string(message)),
            .init("retry", .bool(isTemporary)),
        ])
    }
}
