// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// Checks that a library that is loaded when it is first needed exists on this machine.
///
/// - Parameter problem: the message of the loader; `nil` if the library is loaded.
/// - Throws: ``CodecError/library(message:)``.
func requireLibrary(_ problem: UnsafePointer<CChar>?) throws(CodecError) {
    guard let problem = unsafe problem else { return }
    throw .library(message: "cannot load the library: \(unsafe String(cString: problem))")
}
