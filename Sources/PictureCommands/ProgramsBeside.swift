// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The path of a program that is installed in the folder of this one.
func path(ofProgramBeside name: String) -> String {
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

/// Goes on as another program beside this one, with the same arguments.
///
/// Called on the main thread, whose signals the other program inherits.
///
/// - Parameter name: the program's file name.
/// - Returns: why that cannot be.
package func goOn(asProgramBeside name: String) -> FileFailure {
    let path = path(ofProgramBeside: name)
    unsafe execv(path, CommandLine.unsafeArgv)
    return FileFailure(path, lastSystemError())
}
