// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization

/// Processes of `Tests/Peers/peer_process.py`, each of which executes one script at a time.
///
/// They end with this process, which closes their standard input.
final class PeerProcesses: Sendable {
    private struct PeerProcess: Sendable {
        let input = Pipe()
        let output = Pipe()

        init(_ python: URL, _ environment: [String: String]) throws {
            let process = Process()
            process.executableURL = python
            process.arguments = [PeerProcesses.script("peer_process.py")]
            process.environment = environment
            process.standardInput = input
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            try process.run()
        }

        /// Executes a script; the result is `nil` if this process has ended.
        func run(_ arguments: [String]) throws -> (isSuccess: Bool, output: [UInt8])? {
            var line = try JSONEncoder().encode(arguments)
            line.append(0x0A)
            try input.fileHandleForWriting.write(contentsOf: line)
            guard let head = try read(9) else { return nil }
            let count = head.dropFirst().reduce(0) { $0 << 8 | Int($1) }
            return try read(count).map { (head[0] == 0, $0) }
        }

        private func read(_ count: Int) throws -> [UInt8]? {
            var bytes: [UInt8] = []
            while bytes.count < count {
                let some = try output.fileHandleForReading.read(upToCount: count - bytes.count)
                guard let some, !some.isEmpty else { return nil }
                bytes += some
            }
            return bytes
        }
    }

    private let idle = Mutex<[PeerProcess]>([])

    /// Executes a script of `Tests/Peers`; the result is `nil` if it failed.
    func run(
        _ python: URL, _ arguments: [String], _ environment: [String: String]
    ) throws -> [UInt8]? {
        let process = try idle.withLock { $0.popLast() } ?? PeerProcess(python, environment)
        guard let (isSuccess, output) = try process.run(arguments) else { return nil }
        idle.withLock { $0.append(process) }
        return isSuccess ? output : nil
    }

    /// Returns the path of a script of `Tests/Peers`.
    static func script(_ name: String) -> String {
        SampleFiles.packageDirectory.appending(path: "Tests/Peers/\(name)").path
    }
}
