// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Effects
package import EncodedImages
internal import Pixels
internal import Synchronization

/// A thumbnail that has been written.
struct WrittenThumbnail: Hashable, Sendable {
    let size: PixelSize
    /// The error because of which pixels are missing; `nil` if the input is complete.
    let problem: CodecError?
}

/// Processes items in parallel; see ``ThumbnailBatch/run(_:jobCount:isInterrupted:didFinish:)``.
package func runBatch<Item: Sendable, Output: Sendable>(
    _ items: [Result<Item, FileFailure>], jobCount: Int,
    isInterrupted: @escaping @Sendable () -> Bool,
    didFinish: @Sendable (Result<Output, FileFailure>) -> Void,
    make: @Sendable (Item, CancellationFlag) throws(FileFailure) -> Output
) -> [Result<Output, FileFailure>?] {
    let cancellation = CancellationFlag(or: isInterrupted)
    let next = Atomic(0)
    let results = Mutex([Result<Output, FileFailure>?](repeating: nil, count: items.count))
    DispatchQueue.concurrentPerform(iterations: min(jobCount, items.count)) { _ in
        while !isInterrupted() {
            let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
            guard index < items.count else { return }
            let result = items[index].flatMap { item in
                Result { () throws(FileFailure) in try make(item, cancellation) }
            }
            if case .failure = result, isInterrupted() { return }
            results.withLock { $0[index] = result }
            didFinish(result)
        }
    }
    return results.withLock { $0 }
}

/// Creates thumbnails in parallel.
struct ThumbnailBatch: Sendable {
    let codecs: CodecSet
    let decodeOptions: DecodeOptions
    var effect = Effect.none
    let encodeOptions: EncodeOptions
    var gainMap = GainMapUse.keep

    /// Creates all thumbnails of a plan; a failure does not stop the others.
    ///
    /// At most `jobCount` images are in memory at a time.
    ///
    /// - Parameters:
    ///   - plan: The thumbnails to create. Failures are copied to the results.
    ///   - jobCount: The maximum number of thumbnails at a time, at least 1. The number of threads
    ///     does not exceed the number of cores.
    ///   - isInterrupted: Checked before each thumbnail and while it is decoded. Once it returns
    ///     true, no further thumbnail is started, and those that are not being written yet are
    ///     cancelled.
    ///   - didFinish: Called after each thumbnail, on any thread.
    /// - Returns: For each element of the plan, in its order, the thumbnail or the failure; `nil` for thumbnails that were not started or were cancelled.
    func run(
        _ plan: [Result<PlannedThumbnail, FileFailure>], jobCount: Int,
        isInterrupted: @escaping @Sendable () -> Bool = { false },
        didFinish: @Sendable (Result<WrittenThumbnail, FileFailure>) -> Void = { _ in }
    ) -> [Result<WrittenThumbnail, FileFailure>?] {
        runBatch(
            plan, jobCount: jobCount, isInterrupted: isInterrupted, didFinish: didFinish, make: make
        )
    }

    private func make(
        _ thumbnail: PlannedThumbnail, _ cancellation: CancellationFlag
    ) throws(FileFailure) -> WrittenThumbnail {
        var destination: ImageDestination
        do throws(CodecError) {
            destination = try ImageDestination(
                format: thumbnail.format, codecs: codecs, options: encodeOptions)
        } catch {
            throw FileFailure(thumbnail.output, error)
        }
        let decoded: DecodedImage
        let image: PixelBuffer
        do throws(CodecError) {
            var options = decodeOptions
            options.acceptsYCbCr = destination.prefersYCbCr && effect.isEmpty
            let source = try ImageSource(EncodedBytes(mapping: thumbnail.input), codecs: codecs)
            decoded = try source.decodedImage(options, cancellation: cancellation)
            image = try decoded.image.applying(effect, cancellation)
            if effect.isEmpty {
                destination = destination.adding(
                    try source.gainMap(gainMap, options, for: destination, cancellation))
            }
        } catch {
            throw FileFailure(thumbnail.input, error)
        }
        try makeFolder(splitFolder(thumbnail.output).folder)
        do throws(CodecError) {
            try destination.write(image, to: thumbnail.output, cancellation: cancellation)
        } catch {
            throw FileFailure(thumbnail.output, error)
        }
        return WrittenThumbnail(size: image.size, problem: decoded.report.problem)
    }
}
