// SPDX-License-Identifier: Apache-2.0

internal import CSandbox
internal import EncodedImages
#if canImport(Glibc)
internal import Glibc
#endif

/// The descriptor of shared memory that can be sent to a worker; closed with the last reference.
final class SharedDescriptor: Sendable {
    let number: Int32

    /// Allocates shared memory of a sealed size.
    init(byteCount: Int) throws(CodecError) {
        let result = byteCount > 0 ? calotype_shared_memory(byteCount) : -EINVAL
        guard result >= 0 else {
            throw .sandboxUnavailable(reason: "no shared memory of \(byteCount) bytes")
        }
        number = result
    }

    deinit { close(number) }
}
