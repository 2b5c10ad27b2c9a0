// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import LoadScheduling
internal import Pixels
internal import Synchronization

/// Whose sizes one decode may give: those that differ in nothing else.
struct SizesKey: Hashable, Sendable {
    let data: DataKey
    private let options: DecodeOptions

    /// Fails if the picture shows a part that only itself shows.
    init?(_ data: DataKey, _ options: DecodeOptions) {
        guard options.region == nil, options.appliesOrientation,
            options.embeddedThumbnail == .ignore
        else { return nil }
        let none = DecodeOptions()
        var options = options
        (options.box, options.mode) = (none.box, none.mode)
        (options.anchor, options.allowsEnlarging) = (none.anchor, none.allowsEnlarging)
        self.data = data
        self.options = options
    }
}

/// A decode that gives several sizes of an original.
///
/// Sizes can be added until they are taken; later ones belong to the next decode.
struct SizesDecode: Hashable, Sendable {
    let sizes: SizesKey
    let number: UInt64
}

/// The sizes of originals that are waited for.
///
/// A lock: held while sizes are noted or taken.
final class GatheredSizes: Sendable {
    private struct Waiting {
        let decode: SizesDecode
        let options: DecodeOptions
    }

    private struct State {
        /// By key: the decode to which sizes can be added.
        var open: [SizesKey: SizesDecode] = [:]
        /// By key: what is waited for, by numbers that grow.
        var waiting: [SizesKey: [UInt64: Waiting]] = [:]
        var lastNumber: UInt64 = 0

        mutating func nextNumber() -> UInt64 {
            lastNumber += 1
            return lastNumber
        }
    }

    /// Sizes of more pixels together take several decodes, so that the first are not late.
    private static let maximumArea = 4 << 20
    private static let maximumCount = 64

    private let state = Mutex(State())

    /// A place in the order in which sizes are waited for.
    func makeTicket() -> UInt64 { state.withLock { $0.nextNumber() } }

    /// Adds a size to the next decode, until ``remove(_:from:)`` is called.
    func add(_ options: DecodeOptions, to sizes: SizesKey, as ticket: UInt64) -> SizesDecode {
        state.withLock { state in
            let decode =
                state.open[sizes] ?? SizesDecode(sizes: sizes, number: state.nextNumber())
            state.open[sizes] = decode
            state.waiting[sizes, default: [:]][ticket] = Waiting(decode: decode, options: options)
            return decode
        }
    }

    func remove(_ ticket: UInt64, from sizes: SizesKey) {
        state.withLock { state in
            state.waiting[sizes]?[ticket] = nil
            guard state.waiting[sizes]?.isEmpty == true else { return }
            state.waiting[sizes] = nil
            state.open[sizes] = nil
        }
    }

    /// How many wait for sizes of one original.
    func count(_ key: SizesKey) -> Int { state.withLock { $0.waiting[key]?.count ?? 0 } }

    /// The sizes that a decode gives; it is closed for others.
    ///
    /// - Returns: distinct sizes, the one first that is waited for the longest; none if all left.
    func take(_ decode: SizesDecode, of source: ImageSource) -> [DecodeOptions] {
        let waiting = state.withLock { state in
            if state.open[decode.sizes] == decode { state.open[decode.sizes] = nil }
            return (state.waiting[decode.sizes] ?? [:]).filter { $0.value.decode == decode }
        }
        var taken: [DecodeOptions] = []
        var area = 0
        for (_, waiting) in waiting.sorted(by: { $0.key < $1.key })
        where taken.count < Self.maximumCount && !taken.contains(waiting.options) {
            let size = source.resultSize(waiting.options)
            guard size.largestSide <= source.limits.maximumSide else { continue }
            let (sum, isTooMuch) = area.addingReportingOverflow(size.area)
            guard taken.isEmpty || (!isTooMuch && sum <= Self.maximumArea) else { continue }
            area = isTooMuch ? .max : sum
            taken.append(waiting.options)
        }
        return taken
    }
}

/// The images of one decode, by what was asked for.
typealias GatheredImages = [DecodeOptions: MadeImage]

extension ImagePipeline {
    /// A decode for all sizes of an original that are waited for at about the same time.
    ///
    /// The sizes are chosen when the bytes are there. Sizes for which the decoder shrinks otherwise are
    /// left to a next decode, so that each image has the pixels of a decode for itself.
    ///
    /// - Returns: `nil` if the picture is better decoded by itself.
    func gathered(
        _ request: ImageRequest, _ key: ImageKey, _ salt: UInt64,
        _ context: LoadContext<ImageUpdate>
    ) async throws(LoadError) -> MadeImage? {
        guard request.isReproducible, salt == 0, !request.acceptsSmaller,
            let sizes = SizesKey(DataKey(request, of: key.original, salt: salt), key.options)
        else { return nil }
        let ticket = gatheredSizes.makeTicket()
        defer { gatheredSizes.remove(ticket, from: sizes) }
        // The size that waits the longest is made by each decode, and decoders shrink in few ways.
        for _ in 0..<8 {
            let decode = gatheredSizes.add(key.options, to: sizes, as: ticket)
            let images: GatheredImages
            do throws(LoadError) {
                images = try await sharedDecodes.value(
                    for: decode,
                    SharedDecodes.Consumer(
                        urgency: context.urgency, storeWish: context.storeWish,
                        failurePolicy: request.failurePolicy, story: context.story,
                        receive: context.report)
                ) { [self] shared throws(LoadError) in
                    try await self.images(decode, request, key, shared)
                }
            } catch {
                switch error {
                // One size may find room where all together, or the first of them, do not.
                case .memoryBudgetExceeded,
                    .decodingFailed(_, .limitExceeded(.memoryByteCount, _, _)):
                    return nil
                default: throw error
                }
            }
            if let made = images[key.options] { return made }
        }
        return nil
    }

    private func images(
        _ decode: SizesDecode, _ request: ImageRequest, _ key: ImageKey,
        _ context: LoadContext<ImageUpdate>
    ) async throws(LoadError) -> GatheredImages {
        try await withData(request, key, 0, context) { [self] data throws(LoadError) in
            // Behind the lookups of sizes that are about to be added.
            let source = try await open(data, context.urgency, continuing: false)
            let taken = gatheredSizes.take(decode, of: source)
            let options = taken.isEmpty ? [key.options] : taken
            let byteCount = options.reduce(0) { sum, options in
                let (sum, isTooMuch) = sum.addingReportingOverflow(source.resultByteCount(options))
                return isTooMuch ? .max : sum
            }
            let reservation = try await budget.reserve(byteCount, context.urgency)
            return try await decoded(data, source, options, request, key, reservation, context)
        }
    }
}
