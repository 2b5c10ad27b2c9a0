// SPDX-License-Identifier: Apache-2.0

import Foundation
import ImageTesting
import Testing

/// The command as it was built, run in a process of its own.
enum BuiltCommand {
    struct Answer {
        let code: Int32
        let output: String
        let errors: String
    }

    /// Runs the command to its end.
    ///
    /// - Parameters:
    ///   - arguments: the command line.
    ///   - program: where the command is, if not where it was built.
    ///   - environment: variables in addition to those of this process.
    /// - Returns: what it wrote, and its exit code.
    /// - Throws: if it cannot be started, or is ended by a signal.
    static func run(
        _ arguments: [String], program: String? = nil, environment: [String: String] = [:]
    ) throws -> Answer {
        let process = try process(arguments)
        if let program { process.executableURL = URL(filePath: program) }
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let written = try output.fileHandleForReading.readToEnd() ?? Data()
        let complaints = try errors.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        try #require(process.terminationReason == .exit)
        return Answer(
            code: process.terminationStatus, output: String(decoding: written, as: UTF8.self),
            errors: String(decoding: complaints, as: UTF8.self))
    }

    /// Sends a signal to the command once it has got on with its work.
    ///
    /// - Parameters:
    ///   - arguments: the command line.
    ///   - signal: the signal.
    ///   - temporaryFolder: where the command is to have its temporary files.
    ///   - isAtWork: whether the signal is to be sent.
    /// - Returns: what the command wrote on standard error, and its exit code.
    /// - Throws: if the command cannot be started, or ends by the signal itself.
    static func interrupt(
        _ arguments: [String], _ signal: Int32, temporaryFolder: String, once isAtWork: () -> Bool
    ) async throws -> Answer {
        let process = try process(arguments)
        let errors = Pipe()
        process.environment = ProcessInfo.processInfo.environment
            .merging(["TMPDIR": temporaryFolder]) { $1 }
        process.standardOutput = FileHandle.nullDevice
        process.standardError = errors
        try process.run()
        // Keeps its thread: a task that yields beside others that compute would be resumed too late.
        while !isAtWork() && process.isRunning && !Task.isCancelled { sched_yield() }
        kill(process.processIdentifier, signal)
        let complaints = try errors.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        try #require(process.terminationReason == .exit, "it did not hold the signal back")
        return Answer(
            code: process.terminationStatus, output: "",
            errors: String(decoding: complaints, as: UTF8.self))
    }

    private static func process(_ arguments: [String]) throws -> Process {
        let program = try #require(builtProgram("calotype"))
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        return process
    }
}
