// SPDX-License-Identifier: Apache-2.0

/// The reason why a drawing could not be made.
///
/// The cases are divided by who can act.
public enum DrawingError: Error, Hashable, CustomStringConvertible {
    /// The drawing, or a template, contains a value that is not valid. The caller can correct it.
    case invalid(reason: String)
    /// The drawing exceeds a limit in bytes, which the caller can raise.
    case limitExceeded(needed: Int, allowed: Int)
    /// cairo and Pango cannot be loaded, or this library was built without them. The operator can install
    /// them.
    case unavailable(reason: String)
    /// cairo or Pango failed, for example because memory is exhausted.
    case library(message: String)

    /// The message of the error.
    public var description: String {
        switch self {
        case .invalid(let reason): reason
        case .limitExceeded(let needed, let allowed):
            "the drawing needs \(needed) bytes; the limit is \(allowed)"
        case .unavailable(let reason): "cannot draw: \(reason); install libpangocairo-1.0-0"
        case .library(let message): "the drawing library failed: \(message)"
        }
    }
}
