// SPDX-License-Identifier: Apache-2.0

internal import CCalotype
internal import EncodedImages

/// The reason why a function of the library failed.
enum Failure: Error {
    /// The calling program passed an invalid value.
    case argument(String)
    /// The file, if its name is known, and the reason.
    case codec(CodecError, file: String?)

    var status: calotype_status {
        switch self {
        case .argument: calotype_status(CALOTYPE_INVALID_ARGUMENT)
        case .codec(let error, _): error.status
        }
    }

    var message: String {
        switch self {
        case .argument(let reason): reason
        case .codec(let error, let file): file.map { "\($0): \(error)" } ?? "\(error)"
        }
    }
}

extension CodecError {
    /// The code of the C interface.
    fileprivate var status: calotype_status {
        let code =
            switch self {
            case .unknownFormat, .empty: CALOTYPE_UNKNOWN_FORMAT
            case .malformed: CALOTYPE_DAMAGED
            case .truncated: CALOTYPE_TRUNCATED
            case .unsupported: CALOTYPE_UNSUPPORTED
            case .notBuiltIn: CALOTYPE_NOT_BUILT_IN
            case .limitExceeded: CALOTYPE_LIMIT_EXCEEDED
            case .cancelled: CALOTYPE_CANCELLED
            case .file: CALOTYPE_FILE
            case .fileChanged: CALOTYPE_FILE_CHANGED
            case .library: CALOTYPE_LIBRARY
            case .decoderStopped: CALOTYPE_DECODER_STOPPED
            case .sandboxUnavailable: CALOTYPE_SANDBOX_UNAVAILABLE
            }
        return calotype_status(code)
    }
}

/// Runs the body of a function, stores its error and returns its status.
func attempt(
    _ error: UnsafeMutablePointer<calotype_error>?, _ body: () throws(Failure) -> Void
) -> calotype_status {
    do throws(Failure) {
        try body()
        return calotype_status(CALOTYPE_OK)
    } catch let failure {
        unsafe error?.pointee = calotype_error(failure)
        return failure.status
    }
}

extension calotype_error {
    /// The status and as much of the message as fits, in whole characters.
    init(_ failure: Failure) {
        self.init()
        status = failure.status
        let text = failure.message
        unsafe withUnsafeMutableBytes(of: &message) { bytes in
            unsafe bytes.copyText(text)
        }
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Stores as many scalars of a text as fit, and a final 0.
    func copyText(_ text: String) {
        var offset = 0
        for scalar in text.unicodeScalars where scalar.value != 0 {
            let units = UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
            guard offset + units.count < count else { break }
            for unit in units {
                unsafe self[offset] = unit
                offset += 1
            }
        }
        if offset < count { unsafe self[offset] = 0 }
    }
}
