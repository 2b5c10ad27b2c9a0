// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Foundation
#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Reads a truncated guarded mapping, then an unguarded one, which terminates the process.
enum MappingFault {
    nonisolated(unsafe) private static var earlier = sigaction()

    /// Installs a SIGBUS handler and stores the previous one in `earlier`.
    private static func install(
        _ handler:
            @escaping @convention(c) (
                Int32, UnsafeMutablePointer<siginfo_t>?, UnsafeMutableRawPointer?
            )
            -> Void
    ) {
        var action = sigaction()
        #if canImport(Glibc)
        action.__sigaction_handler = unsafe .init(sa_sigaction: handler)
        #else
        unsafe action.__sigaction_u = unsafe .init(__sa_sigaction: handler)
        #endif
        action.sa_flags = SA_SIGINFO
        unsafe sigaction(SIGBUS, &action, &earlier)
    }

    private static func file(_ name: String, in folder: String) -> String {
        let path = "\(folder)/\(name)"
        guard
            FileManager.default.createFile(
                atPath: path, contents: Data(repeating: 7, count: 65_536))
        else { exit(90) }
        return path
    }

    /// Returns whether a guarded mapping of a truncated file reads as zeros and reports it.
    private static func isGuarded(_ name: String, in folder: String) throws -> Bool {
        let path = file(name, in: folder)
        let bytes = try EncodedBytes(mapping: path)
        guard unsafe truncate(path, 4096) == 0 else { exit(91) }
        let last = bytes.withBytes { $0[65_535] }
        do throws(CodecError) {
            try bytes.checkUnchanged()
            return false
        } catch {
            return last == 0 && error == .fileChanged
        }
    }

    /// Reads past the end of a file that is mapped without a guard.
    private static func fault(in folder: String) {
        let path = file("unguarded", in: folder)
        let descriptor = unsafe open(path, O_RDWR)
        let start = unsafe mmap(nil, 65_536, PROT_READ, MAP_SHARED, descriptor, 0)
        guard let start = unsafe start, unsafe start != MAP_FAILED, ftruncate(descriptor, 0) == 0
        else { exit(92) }
        print(unsafe start.load(fromByteOffset: 8192, as: UInt8.self))
    }

    /// - Parameter arguments: the scenario (`outside`, `sent`, `chained` or `replaced`) and a folder
    ///   for the files. The scenario selects the SIGBUS handler that is installed besides the guard.
    /// - Throws: an error if a file cannot be written or mapped.
    static func run(_ arguments: [String]) throws {
        guard arguments.count == 2 else { exit(93) }
        let folder = arguments[1]
        var noCore = rlimit(rlim_cur: 0, rlim_max: 0)
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &noCore)

        if arguments[0] == "chained" {
            unsafe install { _, _, _ in _exit(42) }
        }
        guard try isGuarded("first", in: folder) else { exit(94) }
        if arguments[0] == "replaced" {
            unsafe install { number, info, context in
                unsafe _ = write(STDOUT_FILENO, "replaced\n", 9)
                #if canImport(Glibc)
                unsafe MappingFault.earlier.__sigaction_handler.sa_sigaction(
                    number, info, context)
                #else
                unsafe MappingFault.earlier.__sigaction_u.__sa_sigaction(number, info, context)
                #endif
            }
        }
        // The guard has replaced the new handler, which is not called.
        guard try isGuarded("second", in: folder) else { exit(95) }
        if arguments[0] == "sent" { kill(getpid(), SIGBUS) } else { fault(in: folder) }
    }
}
