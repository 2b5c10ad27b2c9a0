// SPDX-License-Identifier: Apache-2.0

internal import CSandbox
internal import EncodedImages
#if canImport(Glibc)
    internal import Glibc
#endif

/// An open file of memory that can be handed to a worker; closed here with its last reference.
final class SharedDescriptor: Sendable {
    let number: Int32

    /// Memory of a size that nobody can change.
    init(byteCount: Int) throws(CodecError) {
        let answer = byteCount > 0 ? calotype_shared_memory(byteCount) : -EINVAL
        guard answer >= 0 else {
            throw .sandboxUnavailable(reason: "no \(byteCount) bytes to share")
        }
        number = answer
    }

    deinit { close(number) }
}
