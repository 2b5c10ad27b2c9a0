// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import ImageTesting
import Testing

/// The `calotype` command of this build, run as a process.
enum BuiltCommand {
    struct Answer {
        let code: Int32
        let output: String
        let errors: String
    }

    /// Runs the command to its end, without blocking a thread of the cooperative pool.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of the command.
    ///   - program: The path of the program, that of this build by default.
    ///   - environment: Variables in addition to those of this process.
    ///   - input: The standard input.
    /// - Returns: Its output and its exit code.
    /// - Throws: An error if it cannot be started or if a signal ends it.
    static func run(
        _ arguments: [String], program: String? = nil, environment: [String: String] = [:],
        input: Data? = nil
    ) async throws -> Answer {
        let (answer, output) = try await outputBytes(
            arguments, program: program, environment: environment, input: input)
        return Answer(
            code: answer.code, output: String(decoding: output, as: UTF8.self),
            errors: answer.errors)
    }

    /// Runs the command like ``run(_:program:environment:input:)``.
    ///
    /// - Returns: Its exit code and its errors, and its output as bytes.
    static func outputBytes(
        _ arguments: [String], program: String? = nil, environment: [String: String] = [:],
        input: Data? = nil
    ) async throws -> (Answer, Data) {
        try await onThread {
            let process = try process(arguments)
            if let program { process.executableURL = URL(filePath: program) }
            process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
            let (output, errors) = (Pipe(), Pipe())
            process.standardOutput = output
            process.standardError = errors
            let requests = Pipe()
            if input != nil { process.standardInput = requests }
            try process.run()
            if let input {
                Thread {
                    try? requests.fileHandleForWriting.write(contentsOf: input)
                    try? requests.fileHandleForWriting.close()
                }.start()
            }
            let written = try output.fileHandleForReading.readToEnd() ?? Data()
            let messages = try errors.fileHandleForReading.readToEnd() ?? Data()
            return (try answer(of: process, output: Data(), errors: messages), written)
        }
    }

    /// Sends a signal to the command as soon as a file has appeared in a folder.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of the command.
    ///   - signal: The signal.
    ///   - temporaryFolder: The `TMPDIR` of the command.
    ///   - folder: The folder to watch, which exists.
    ///   - prefix: The prefix of the file name.
    /// - Returns: The standard error output of the command, and its exit code.
    /// - Throws: An error if the command cannot be started or if a signal ends it.
    static func interrupt(
        _ arguments: [String], _ signal: Int32, temporaryFolder: String,
        whenFileAppearsIn folder: String, prefix: String = ""
    ) async throws -> Answer {
        try await onThread {
            let process = try process(arguments)
            let errors = Pipe()
            process.environment = ProcessInfo.processInfo.environment
                .merging(["TMPDIR": temporaryFolder]) { $1 }
            process.standardOutput = FileHandle.nullDevice
            process.standardError = errors
            let watch = inotify_init1(Int32(IN_CLOEXEC))
            try #require(watch >= 0)
            defer { close(watch) }
            try #require(
                unsafe inotify_add_watch(watch, folder, UInt32(IN_CREATE | IN_MOVED_TO)) >= 0)
            try process.run()
            // Standard error becomes readable when the command ends, or before.
            var watched = [
                pollfd(fd: watch, events: Int16(POLLIN), revents: 0),
                pollfd(
                    fd: errors.fileHandleForReading.fileDescriptor, events: Int16(POLLIN),
                    revents: 0),
            ]
            var events = [UInt8](repeating: 0, count: 4_096)
            while try !FileManager.default.contentsOfDirectory(atPath: folder)
                .contains(where: { $0.hasPrefix(prefix) })
            {
                try #require(unsafe poll(&watched, 2, -1) > 0)
                guard watched[1].revents == 0 else { break }
                unsafe _ = read(watch, &events, events.count)
            }
            kill(process.processIdentifier, signal)
            let messages = try errors.fileHandleForReading.readToEnd() ?? Data()
            return try answer(of: process, output: Data(), errors: messages)
        }
    }

    private static func process(_ arguments: [String]) throws -> Process {
        let program = try #require(builtProgram("calotype"))
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        return process
    }

    private static func answer(of process: Process, output: Data, errors: Data) throws -> Answer {
        process.waitUntilExit()
        try #require(process.terminationReason == .exit)
        return Answer(
            code: process.terminationStatus, output: String(decoding: output, as: UTF8.self),
            errors: String(decoding: errors, as: UTF8.self))
    }

    private static func onThread<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Thread { continuation.resume(with: Result(catching: body)) }.start()
        }
    }
}
