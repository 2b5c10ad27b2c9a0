// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Returns the path of a program in the folder of the running program.
package func path(ofSiblingProgram name: String) -> String {
    var path = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe path.withUnsafeMutableBytes { path in
        unsafe path.withMemoryRebound(to: CChar.self) { path in
            unsafe path.baseAddress.map {
                unsafe readlink("/proc/self/exe", $0, path.count)
            } ?? 0
        }
    }
    return splitFolder(String(decoding: path.prefix(max(0, count)), as: UTF8.self)).folder
        + "/\(name)"
}

/// Replaces this process with another program of the same folder, with the same arguments.
///
/// Call it on the main thread, because the other program inherits the signal mask of the thread.
///
/// - Parameter name: The file name of the program.
/// - Returns: The error, only if the program cannot be executed.
package func execute(siblingProgram name: String) -> FileFailure {
    let path = path(ofSiblingProgram: name)
    unsafe execv(path, CommandLine.unsafeArgv)
    return FileFailure(path, lastSystemError())
}
