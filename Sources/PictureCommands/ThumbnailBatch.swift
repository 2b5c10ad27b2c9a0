// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import EncodedImages
internal import Pixels
internal import Synchronization

/// Makes many thumbnails, as many at once as it is told.
struct ThumbnailBatch: Sendable {
    let codecs: CodecSet
    let decodeOptions: DecodeOptions
    let encodeOptions: EncodeOptions

    /// Makes every thumbnail of a plan; one that fails does not hold up the rest.
    ///
    /// Memory is taken for `jobCount` pictures at a time, whatever the plan's length.
    ///
    /// - Parameters:
    ///   - plan: what is to be made; a failure is taken over into the results.
    ///   - jobCount: how many are made at once; at least 1. There are never more threads than cores.
    ///   - isInterrupted: asked before each thumbnail and while it is decoded; once it answers true,
    ///     no further one begins, and those that are not being written yet are given up.
    ///   - didFinish: called after each thumbnail, from several threads.
    /// - Returns: a result for each of the plan, in its order: the thumbnail's size, or why there is
    ///   none; `nil` for those that were not begun, or given up.
    func run(
        _ plan: [Result<PlannedThumbnail, FileFailure>], jobCount: Int,
        isInterrupted: @escaping @Sendable () -> Bool = { false },
        didFinish: @Sendable (Result<PixelSize, FileFailure>) -> Void = { _ in }
    ) -> [Result<PixelSize, FileFailure>?] {
        let cancellation = CancellationFlag(or: isInterrupted)
        let next = Atomic(0)
        let results = Mutex([Result<PixelSize, FileFailure>?](repeating: nil, count: plan.count))
        DispatchQueue.concurrentPerform(iterations: min(jobCount, plan.count)) { _ in
            while !isInterrupted() {
                let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
                guard index < plan.count else { return }
                let result = plan[index].flatMap { thumbnail in
                    Result { () throws(FileFailure) in try make(thumbnail, cancellation) }
                }
                if case .failure = result, isInterrupted() { return }
                results.withLock { $0[index] = result }
                didFinish(result)
            }
        }
        return results.withLock { $0 }
    }

    private func make(
        _ thumbnail: PlannedThumbnail, _ cancellation: CancellationFlag
    ) throws(FileFailure) -> PixelSize {
        let destination: ImageDestination
        do throws(CodecError) {
            destination = try ImageDestination(
                format: thumbnail.format, codecs: codecs, options: encodeOptions)
        } catch {
            throw FileFailure(thumbnail.output, error)
        }
        let image: PixelBuffer
        do throws(CodecError) {
            var options = decodeOptions
            options.acceptsYCbCr = destination.prefersYCbCr
            let source = try ImageSource(EncodedBytes(mapping: thumbnail.input), codecs: codecs)
            image = try source.image(options, cancellation: cancellation)
        } catch {
            throw FileFailure(thumbnail.input, error)
        }
        try makeFolder(splitFolder(thumbnail.output).folder)
        do throws(CodecError) {
            try destination.write(image, to: thumbnail.output, cancellation: cancellation)
        } catch {
            throw FileFailure(thumbnail.output, error)
        }
        return image.size
    }
}
