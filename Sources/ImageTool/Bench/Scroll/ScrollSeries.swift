// SPDX-License-Identifier: Apache-2.0

internal import LoadScheduling
internal import PictureCommands
internal import Foundation
internal import ImageCodecs
internal import ImageLoading
internal import Logging

/// Many runs, each in a process of its own, so that none is charged for what another one left in
/// memory.
struct ScrollSeries {
    let collection: PhotoCollection
    let traces: [ScrollTrace]
    /// Arguments that every process gets.
    let arguments: [String]
    /// Where pictures were kept before for runs with a warm store.
    let store: String

    /// Plays the runs one after the other.
    ///
    /// - Parameters:
    ///   - runs: what is played.
    ///   - isInterrupted: asked again and again; once it answers true, the run that is being played
    ///     is given up, and no further one begins.
    ///   - didFinish: called after each run.
    /// - Returns: the results of the runs that came to their end.
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
            // It writes nothing before its end.
            while !hasData(output.fileHandleForReading.fileDescriptor) {
                guard !isInterrupted() else {
                    // It has nothing to tidy up, and may hold back other signals as this process does.
                    kill(process.processIdentifier, SIGKILL)
                    // Its pipe ends when it does; Foundation may never hear of so sudden an end.
                    _ = try output.fileHandleForReading.readToEnd()
                    return nil
                }
            }
            let text = try output.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            guard process.terminationStatus == 0 else {
                throw FileFailure(program, "a run ended with \(process.terminationStatus)")
            }
            return try JSONDecoder().decode(ScrollResult.self, from: text)
        } catch let failure as FileFailure {
            throw failure
        } catch {
            throw FileFailure(program, "\(error)")
        }
    }

    /// Waits a moment for something to read, or for its end.
    private func hasData(_ descriptor: Int32) -> Bool {
        var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&wanted, 1, 100) > 0
    }

    /// Makes the pictures that a trace may show, so that a store that has them is warm.
    static func warm(
        _ directory: String, _ scene: ScrollScene, _ items: Range<Int>,
        isInterrupted: @escaping @Sendable () -> Bool
    ) async throws(FileFailure) {
        let pipeline = ImagePipeline(
            codecs: builtInCodecs, configuration: try configuration(keptIn: directory),
            logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() })
        let requests = items.map { KeptPicture(request: scene.request($0), pipeline: pipeline) }
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
