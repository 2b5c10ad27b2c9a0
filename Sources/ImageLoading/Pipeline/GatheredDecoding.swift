// SPDX-License-Identifier: Apache-2.0

internal import LoadScheduling
internal import EncodedImages

/// Decodes an original once for all sizes of it that are requested at about the same time.
///
/// The sizes are taken when the decode begins. Sizes for which the decoder would shrink by another
/// factor are left to a later decode, so that each image has the pixels of a decode of its own. Sizes that
/// are requested meanwhile wait, if they will be made of the planes of the decode.
final class GatheredDecoding: Sendable {
    /// The images of one decode, by their options.
    private typealias Images = [DecodeOptions: MadeImage]

    /// How far a decode came on its first turn on a thread.
    private enum FirstTurn: Sendable {
        case decoded(Images)
        /// There was no memory for the sizes that were taken.
        case needsMemory(
            OpenedOriginal, sizes: [DecodeOptions], keepsPlanes: Bool, byteCount: Int)
    }

    private let decoding: ImageDecoding
    private let sizes = GatheredSizes()
    private let loads = SharedLoads<GatheredSizes.DecodeNumber, Images, ImageUpdate>()

    init(_ decoding: ImageDecoding) { self.decoding = decoding }

    /// Returns the number of loads that wait for sizes of one original.
    ///
    /// The key is that of ``ImageLoadKey/withoutSize``.
    func waitingCount(_ key: ImageLoadKey) -> Int { sizes.count(key) }

    /// Returns the image of a load from a decode that it shares with other sizes.
    ///
    /// - Returns: `nil` if the image is better decoded by itself.
    func image(_ load: ImageLoad) async throws(LoadError) -> MadeImage? {
        let (request, options) = (load.request, load.image.options)
        guard request.isReproducible, load.key.data.salt == 0, !request.acceptsSmaller,
            let key = load.key.withoutSize
        else { return nil }
        let ticket = sizes.makeTicket()
        defer { sizes.remove(ticket, from: key) }
        // Each decode makes the size that has waited longest, and decoders have few shrink factors.
        for _ in 0..<8 {
            let number = sizes.add(options, to: key, as: ticket)
            let images: Images
            do throws(LoadError) {
                images = try await loads.value(
                    for: number,
                    LoadConsumer(
                        urgency: load.urgency, storePermission: load.context.storePermission,
                        failurePolicy: request.failurePolicy, story: load.context.story,
                        receive: load.context.report)
                ) { [self] shared throws(LoadError) in
                    try await decode(
                        number, key, ImageLoad(request: request, key: load.key, context: shared))
                }
            } catch {
                switch error {
                // One size may fit where all of them, or the first of them, do not.
                case .memoryBudgetExceeded,
                    .decodingFailed(_, .limitExceeded(.memoryByteCount, _, _)):
                    return nil
                default: throw error
                }
            }
            if let made = images[options] { return made }
        }
        return nil
    }

    /// Loads the original and decodes the sizes that are waited for by then.
    ///
    /// The header, the reservation and the decode take one turn on a thread, unless the memory budget
    /// is full.
    private func decode(
        _ number: GatheredSizes.DecodeNumber, _ key: ImageLoadKey, _ load: ImageLoad
    ) async throws(LoadError) -> Images {
        let (queues, clock) = (decoding.resources.queues, decoding.resources.clock)
        defer { sizes.end(number, key) }
        return try await decoding.withData(load) { [self] data throws(LoadError) in
            // Behind the lookups of requests that are about to add sizes.
            if queues.lookups.waitingCount > 0 {
                try await queues.lookups.run(load.urgency) { _ throws(LoadError) in }
            }
            let submitted = clock.now
            let turn = try await queues.decodes.run(load.urgency) {
                [self] cancellation throws(LoadError) in
                try takeFirstTurn(number, key, data, load, submitted: submitted, cancellation)
            }
            switch turn {
            case .decoded(let images): return images
            case .needsMemory(let original, let sizes, let keepsPlanes, let byteCount):
                let reservation = try await decoding.resources.budget.reserve(
                    byteCount, load.urgency)
                let submitted = clock.now
                return try await queues.decodes.run(load.urgency) {
                    [decoding] cancellation throws(LoadError) in
                    try decoding.decodeSizes(
                        sizes, of: original, load, keepsPlanes: keepsPlanes, reservation,
                        submitted: submitted, cancellation)
                }
            }
        }
    }

    private func takeFirstTurn(
        _ number: GatheredSizes.DecodeNumber, _ key: ImageLoadKey, _ data: LoadedOriginal,
        _ load: ImageLoad, submitted: ContinuousClock.Instant, _ cancellation: CancellationFlag
    ) throws(LoadError) -> FirstTurn {
        let original = try decoding.open(data)
        let taken = sizes.take(number, key, of: original.source)
        let options = taken.isEmpty ? [load.image.options] : taken
        var keepsPlanes = false
        if case .file(let file) = load.key.data.original {
            keepsPlanes = decoding.resources.reduced.noteSizes(options.count, of: file)
        }
        if keepsPlanes { sizes.begin(number, key, original.source, options[0]) }
        let byteCount = options.reduce(0) { sum, options in
            let (sum, isTooMuch) = sum.addingReportingOverflow(
                original.source.resultByteCount(options))
            return isTooMuch ? .max : sum
        }
        guard let reservation = decoding.resources.budget.tryReserve(byteCount) else {
            return .needsMemory(
                original, sizes: options, keepsPlanes: keepsPlanes, byteCount: byteCount)
        }
        return .decoded(
            try decoding.decodeSizes(
                options, of: original, load, keepsPlanes: keepsPlanes, reservation,
                submitted: submitted, cancellation))
    }
}
