// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import DecoderSandbox
internal import Effects
internal import EncodedImages
internal import ImageLoading
internal import LoadScheduling
internal import Logging
internal import ImageCommands

/// The `thumbnail` command with `--explain`, which reports the steps of the loading pipeline.
struct ExplainedThumbnail: AsyncParsableCommand {
    static let configuration = Thumbnail.configuration

    @OptionGroup var thumbnail: Thumbnail

    func run() async throws {
        guard thumbnail.explain else { return try await thumbnail.run() }
        let (codecs, sandbox) = try thumbnail.sandboxing.decoding(workerCount: 1)
        defer { sandbox?.close() }
        try await thumbnail.printSteps(codecs)
    }
}

extension Thumbnail {
    /// Loads each thumbnail through a pipeline, writes no file, and prints the steps of each load.
    ///
    /// - Throws: `ExitCode` if a file failed, after all were processed.
    fileprivate func printSteps(_ codecs: CodecSet) async throws {
        let pipeline = ImagePipeline(
            codecs: codecs, configuration: ImagePipeline.Configuration(),
            logger: Logger(label: "calotype") { _ in SwiftLogNoOpLogHandler() })
        let effect: Effect
        do throws(FileFailure) {
            effect = try effects.effect(codecs)
        } catch {
            report(error)
            throw ExitCode(1)
        }
        var objects: [JSON] = []
        var hasFailed = false
        for file in files.paths {
            let story = LoadMetrics()
            var image = ImageRequest(path: file, options: decodeOptions)
            image.processors = effect.isEmpty ? [] : [effect]
            let request = RenditionRequest(
                image: image, format: format,
                encodeOptions: encodeOptions)
            var failure: FileFailure?
            do throws(LoadError) {
                let rendition = try await pipeline.rendition(for: request, story: story)
                if let problem = rendition.problem { warn(file, "\(problem)") }
            } catch {
                let reason = FileFailure(file, error)
                failure = reason
                hasFailed = true
                report(reason)
            }
            if json {
                objects.append(
                    .object(
                        [
                            .init("input", .string(file)),
                            .init("steps", .array(story.steps.map(\.json))),
                        ] + (failure.map { [.init("error", .string($0.reason))] } ?? [])))
            } else {
                print(file)
                for step in story.steps { print("  \(step.line)") }
            }
        }
        await pipeline.close()
        if json { print(JSON.array(objects).text()) }
        if hasFailed { throw ExitCode(1) }
    }
}

extension FileFailure {
    init(_ path: String, _ error: LoadError) {
        switch error {
        case .notFound: self.init(path, "No such file or directory")
        case .unreadable(_, let reason): self.init(path, reason)
        case .decodingFailed(_, let error), .encodingFailed(_, let error): self.init(path, error)
        default: self.init(path, error.description)
        }
    }
}

extension LoadStep {
    fileprivate var json: JSON {
        .object([
            .init("stage", .string(stage.rawValue)),
            .init("milliseconds", .number(duration / .milliseconds(1))),
            .init("waitedMilliseconds", .number(wait / .milliseconds(1))),
            .init("detail", .string(detail)),
        ])
    }

    /// A line such as `decode   12.3 ms  400x300 of 4000x3000 by shrinking, …`.
    fileprivate var line: String {
        let name = stage.rawValue.padding(8)
        let time = "\(milliseconds(duration)) ms".leftPadding(10)
        let waited = wait > .milliseconds(1) ? ", after \(milliseconds(wait)) ms" : ""
        return "\(name) \(time)  \(detail)\(waited)"
    }

    private func milliseconds(_ duration: Duration) -> String {
        let tenths = Int((duration / .milliseconds(1) * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}

extension String {
    fileprivate func padding(_ count: Int) -> String {
        self + String(repeating: " ", count: max(0, count - self.count))
    }

    fileprivate func leftPadding(_ count: Int) -> String {
        String(repeating: " ", count: max(0, count - self.count)) + self
    }
}
