// SPDX-License-Identifier: Apache-2.0

package import EncodedImages
package import Pixels

/// The reason why an output of a source was not made.
package enum OutputFailure: Error, CustomStringConvertible {
    /// The source cannot be read or decoded: its author, or the caller.
    case source(CodecError)
    /// The output cannot be made of this source: the caller.
    case output(name: String, CodecError)
    /// The file cannot be written: the owner of its folder.
    case destination(name: String, CodecError)

    package var description: String {
        switch self {
        case .source(let error): "\(error)"
        case .output(let name, let error), .destination(let name, let error):
            "output \(name): \(error)"
        }
    }
}

/// A file that was made of a source.
package struct OutputFile {
    package let output: BatchOutput
    package let bytes: [UInt8]
    package let size: PixelSize
    /// The error because of which pixels are missing; `nil` if the source is complete.
    package let problem: CodecError?

    /// Writes the file whole or not at all, and creates its folder.
    ///
    /// - Throws: `CodecError/file(reason:)`.
    package func write(to path: String) throws(CodecError) {
        do throws(FileFailure) {
            try makeFolder(splitFolder(path).folder)
        } catch {
            throw .file(reason: "\(error)")
        }
        try ImageDestination.write(bytes, to: path)
    }
}

/// Makes several images of a source with one decode.
package struct OutputMaker: Sendable {
    private let codecs: CodecSet
    private let isStrict: Bool
    private let gainMap: GainMapUse

    /// Creates a maker.
    ///
    /// - Parameters:
    ///   - codecs: the codecs, which decode in a sandbox or in this process.
    ///   - isStrict: whether truncated files are refused.
    ///   - gainMap: what happens to HDR gain maps.
    package init(codecs: CodecSet, isStrict: Bool, gainMap: GainMapUse) {
        self.codecs = codecs
        self.isStrict = isStrict
        self.gainMap = gainMap
    }

    /// Decodes a source for all outputs, so that a file does not depend on which others exist, and passes
    /// those that are wanted to `write`, the largest first.
    ///
    /// - Parameters:
    ///   - wanted: the outputs that are encoded.
    ///   - outputs: all outputs of the source.
    ///   - cancellation: cancels the work from another thread.
    ///   - open: returns the bytes of the source.
    ///   - write: receives each file; what it throws is an error of the destination.
    /// - Returns: the source, whose header is known.
    /// - Throws: ``OutputFailure``; files that were passed before are complete.
    @discardableResult package func make(
        _ wanted: Set<BatchOutput>, among outputs: [BatchOutput], _ cancellation: CancellationFlag,
        open: () throws(CodecError) -> EncodedBytes,
        write: (OutputFile) throws(CodecError) -> Void
    ) throws(OutputFailure) -> ImageSource {
        let image: ImageSource
        let plan: [(output: BatchOutput, destination: ImageDestination, options: DecodeOptions)]
        var decoded: [DecodedImage?]
        do throws(CodecError) {
            image = try ImageSource(open(), codecs: codecs)
            plan = try self.plan(image, outputs)
            decoded = try image.decodedImages(plan.map(\.options), cancellation: cancellation)
        } catch {
            throw .source(error)
        }
        for (index, (output, destination, options)) in plan.enumerated()
        where wanted.contains(output) {
            let file: OutputFile
            do throws(CodecError) {
                let result: DecodedImage
                if let made = decoded[index] {
                    result = made
                } else {
                    // A part that the largest does not show needs a pass of its own.
                    result = try image.decodedImage(options, cancellation: cancellation)
                }
                decoded[index] = nil
                let map = try image.gainMap(gainMap, options, for: destination, cancellation)
                file = OutputFile(
                    output: output,
                    bytes: try destination.adding(map)
                        .encode(result.image, cancellation: cancellation),
                    size: result.image.size, problem: result.report.problem)
            } catch {
                throw .output(name: output.name, error)
            }
            do throws(CodecError) {
                try write(file)
            } catch {
                throw .destination(name: output.name, error)
            }
        }
        return image
    }

    /// Returns how each output is made, the largest first.
    private func plan(
        _ image: ImageSource, _ outputs: [BatchOutput]
    ) throws(CodecError) -> [(BatchOutput, ImageDestination, DecodeOptions)] {
        var destinations: [ImageDestination] = []
        for output in outputs { destinations.append(try output.destination(codecs)) }
        // All outputs in one form, so that they can share a decode.
        let acceptsYCbCr = destinations.allSatisfy(\.prefersYCbCr)
        let plan = zip(outputs, destinations).map { output, destination in
            (
                output, destination,
                output.decodeOptions(acceptsYCbCr: acceptsYCbCr, isStrict: isStrict)
            )
        }
        return plan.sorted { image.resultSize($0.2).area > image.resultSize($1.2).area }
    }
}
