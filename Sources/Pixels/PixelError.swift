// SPDX-License-Identifier: Apache-2.0

/// The reason why memory cannot be used as an image.
///
/// The cases are divided by who can act.
public enum PixelError: Error, Hashable, CustomStringConvertible {
    /// The memory does not have the stated layout. The caller that provides it can correct it.
    case invalidLayout(reason: String)
    /// The shared memory can still be changed, or is smaller than the image. The process that created it
    /// can correct that.
    case notSealed(reason: String)
    /// The consumer has no such format, so that the caller must convert the image.
    case unsupported(reason: String)
    /// The library of the consumer cannot be loaded. The operator can install it.
    case libraryUnavailable(reason: String)
    /// There is no memory for the image. The operator can provide more.
    case memoryUnavailable(byteCount: Int)

    /// The message of the error.
    public var description: String {
        switch self {
        case .invalidLayout(let reason): "invalid layout of pixels: \(reason)"
        case .notSealed(let reason): "invalid shared memory: \(reason)"
        case .unsupported(let reason): reason
        case .libraryUnavailable(let reason): "cannot load the library: \(reason)"
        case .memoryUnavailable(let byteCount): "no memory for \(byteCount) bytes"
        }
    }
}
