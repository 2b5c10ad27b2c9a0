// SPDX-License-Identifier: Apache-2.0

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
    /// - Throws: ``FileFailure`` if a process cannot be started or fails.
    func play(
        _ runs: [ScrollRun], isInterrupted: () -> Bool, didFinish: () -> Void
    ) throws(FileFailure) -> [ScrollResult] {
        var results: [ScrollResult] = []
        for run in runs where !isInterrupted() {
            results.append(try play(run))
            didFinish()
        }
        return results
    }

    private func play(_ run: ScrollRun) throws(FileFailure) -> ScrollResult {
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

    /// Makes the pictures that a trace may show, so that a store that has them is warm.
    static func warm(
        _ directory: String, _ scene: ScrollScene, _ items: Range<Int>
    ) async throws(FileFailure) {
        let pipeline = ImagePipeline(
            codecs: builtInCodecs, configuration: try configuration(keptIn: directory),
            logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() })
        let requests = items.map { KeptPicture(request: scene.request($0), pipeline: pipeline) }
        await withTaskGroup(of: Void.self) { group in
            for request in requests {
                group.addTask { _ = try? await request.load { _ in } }
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
