// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import DecoderSandbox
internal import Pixels

/// An object that the caller of the C interface owns by a pointer.
///
/// Each handle is freed exactly once: by the function of the interface with `release` in its name.
class Handle {
    /// Returns a pointer that owns this object.
    final func passed() -> OpaquePointer {
        unsafe OpaquePointer(Unmanaged.passRetained(self).toOpaque())
    }

    /// Returns the object of a pointer, which keeps owning it.
    static func borrowed(_ pointer: OpaquePointer?, _ name: String) throws(Failure) -> Self {
        guard let pointer = unsafe pointer else { throw .argument("\(name) is null") }
        let object = unsafe Unmanaged<Handle>.fromOpaque(UnsafeRawPointer(pointer))
            .takeUnretainedValue()
        guard let handle = object as? Self else { throw .argument("\(name) has another type") }
        return handle
    }

    /// Returns the object of a pointer; `nil` if the pointer is null.
    static func borrowed(ifNotNull pointer: OpaquePointer?, _ name: String) throws(Failure) -> Self?
    {
        unsafe pointer == nil ? nil : try borrowed(pointer, name)
    }

    /// Ends the ownership of a pointer.
    static func release(_ pointer: OpaquePointer?) {
        guard let pointer = unsafe pointer else { return }
        unsafe Unmanaged<Handle>.fromOpaque(UnsafeRawPointer(pointer)).release()
    }
}

/// An opened file.
final class SourceHandle: Handle {
    let source: ImageSource
    /// The name of the file in errors.
    let name: String?
    let codecs: CodecSet

    init(_ source: ImageSource, _ name: String?, _ codecs: CodecSet) {
        self.source = source
        self.name = name
        self.codecs = codecs
    }
}

/// A decoded image.
final class ImageHandle: Handle {
    let image: PixelBuffer

    init(_ image: PixelBuffer) { self.image = image }

    /// The address of the first row.
    ///
    /// Valid as long as this object: nothing replaces the image, whose bytes are on the heap or mapped.
    var address: UnsafeRawPointer? {
        let image = image
        let bytes = image.bytes
        return unsafe bytes.withUnsafeBytes { $0.baseAddress }
    }
}

/// Bytes that the library returns.
final class DataHandle: Handle {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The address of the first byte, valid as long as this object; the bytes of an array that is not
    /// changed stay where they are.
    var address: UnsafeRawPointer? {
        unsafe bytes.withUnsafeBytes { $0.baseAddress }
    }
}

/// A cancellation.
final class CancellationHandle: Handle {
    let flag = CancellationFlag()
}

/// A sandbox, closed with its last reference.
final class SandboxHandle: Handle {
    let sandbox: DecoderSandbox

    init(_ sandbox: DecoderSandbox) { self.sandbox = sandbox }
}
