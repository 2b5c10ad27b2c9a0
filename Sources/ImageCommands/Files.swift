// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
internal import EncodedImages
internal import Glibc

/// Checks that a folder exists and can be listed.
///
/// - Throws: ``FileFailure`` with the error of the system.
package func checkFolder(_ path: String) throws(FileFailure) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { throw FileFailure(path, lastSystemError()) }
    guard status.st_mode & S_IFMT == S_IFDIR else { throw FileFailure(path, "not a folder") }
    guard unsafe access(path, R_OK | X_OK) == 0 else {
        throw FileFailure(path, lastSystemError())
    }
}

/// Writes a text file atomically.
///
/// - Throws: `ExitCode`, after the error was reported on standard error.
package func writeFile(_ text: String, to path: String) throws(ExitCode) {
    do throws(CodecError) {
        try ImageDestination.write(Array(text.utf8), to: path)
    } catch {
        report(FileFailure(path, error))
        throw ExitCode(1)
    }
}
