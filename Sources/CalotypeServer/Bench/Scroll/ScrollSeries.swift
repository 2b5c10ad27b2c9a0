// SPDX-License-Identifier: Apache-2.0

internal import ImageCommands
internal import LoadScheduling
internal import Foundation
internal import ImageCodecs
internal import ImageLoading
internal import Logging

/// Performs runs in separate processes, so that memory of one run does not affect another.
struct ScrollSeries {
    let collection: PhotoCollection
    let traces: [ScrollTrace]
    /// The arguments of all processes.
    let arguments: [String]
    /// The folder of the store for runs with a warm store.
    let store: String

    /// Performs the runs one after another.
    ///
    /// - Parameters:
    ///   - runs: The runs.
    ///   - isInterrupted: Checked repeatedly. Once it returns true, the current run is cancelled
    ///     and no further one is started.
    ///   - didFinish: Called after each run.
    /// - Returns: The results of the completed runs.
    /// - Throws: ``FileFailure`` if a process cannot be started or fails.
    func play(
        _ runs: [ScrollRun], isInterrupted: () -> Bool, didFinish: () -> Void
    ) throws(FileFailure) -> [ScrollResult] {
        var results: [ScrollResult] = []
        for run in runs where !isInterrupted() {
            guard let result = try play(run, isInterrupted) else { break }
            results.append(result)
            didFinish()
        }
        return results
    }

    private func play(
        _ run: ScrollRun, _ isInterrupted: () -> Bool
    ) throws(FileFailure) -> ScrollResult? {
        let process = Process()
        let output = Pipe()
        let program = Bundle.main.executablePath ?? CommandLine.arguments[0]
        process.executableURL = URL(filePath: program)
        process.arguments =
            [
                "bench", "scroll", collection.folder, "--count", "\(collection.paths.count)",
                "--layout", run.layout, "--rate", "\(run.rate)", "--design", run.design.rawValue,
                "--store", run.store.rawValue, "--trace", run.trace, "--single", "--kept", store,
            ] + arguments
        process.standardOutput = output
        do {
            try process.run()
            // The child writes its output at the end.
            while !hasData(output.fileHandleForReading.fileDescriptor) {
                guard !isInterrupted() else {
                    // The child has no files to remove, and may defer other signals.
                    kill(process.processIdentifier, SIGKILL)
                    // The end of the pipe shows its end; `waitUntilExit` may miss it.
                    _ = try output.fileHandleForReading.readToEnd()
                    return nil
                }
            }
            let text = try output.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            guard process.terminationStatus == 0 else {
                throw FileFailure(
                    program, "a run failed with exit code \(process.terminationStatus)")
            }
            return try JSONDecoder().decode(ScrollResult.self, from: text)
        } catch let failure as FileFailure {
            throw failure
        } catch {
            throw FileFailure(program, "\(error)")
        }
    }

    /// Waits up to 100 ms for data or the end of a pipe.
    private func hasData(_ descriptor: Int32) -> Bool {
        var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&wanted, 1, 100) > 0
    }

    /// Creates the renditions of items in a store.
    static func warm(
        _ directory: String, _ scene: ScrollScene, _ items: Range<Int>,
        isInterrupted: @escaping @Sendable () -> Bool
    ) async throws(FileFailure) {
        let pipeline = ImagePipeline(
            codecs: builtInCodecs, configuration: try configuration(keptIn: directory),
            logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() })
        let requests = items.map { StoredRendition(request: scene.request($0), pipeline: pipeline) }
        await withTaskGroup(of: Void.self) { group in
            for request in requests {
                group.addTask {
                    if !isInterrupted() { _ = try? await request.load { _ in } }
                }
            }
        }
        await pipeline.close()
    }

    static func configuration(
        keptIn directory: String
    ) throws(FileFailure) -> ImagePipeline.Configuration {
        var configuration = ImagePipeline.Configuration()
        configuration.store = try openStore(directory)
        return configuration
    }

    static func openStore(_ directory: String) throws(FileFailure) -> RenditionStore {
        do throws(LoadError) {
            return try RenditionStore(
                directory: directory, byteLimit: 1 << 30,
                logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() })
        } catch {
            throw FileFailure(directory, error)
        }
    }
}
