// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels
internal import Synchronization

/// Whose sizes one decode may serve: those that differ in nothing else.
struct SizesKey: Hashable, Sendable {
    let data: DataKey
    private let options: DecodeOptions

    /// Fails if the picture shows a part that only itself shows.
    init?(_ data: DataKey, _ options: DecodeOptions) {
        guard options.region == nil, options.appliesOrientation else { return nil }
        let none = DecodeOptions()
        var options = options
        (options.box, options.mode) = (none.box, none.mode)
        (options.anchor, options.allowsEnlarging) = (none.anchor, none.allowsEnlarging)
        self.data = data
        self.options = options
    }
}

/// The sizes of originals that somebody waits for.
///
/// A lock: held while sizes are noted or compared.
final class GatheredSizes: Sendable {
    private struct State {
        var sizes: [SizesKey: [UInt64: DecodeOptions]] = [:]
        var lastNumber: UInt64 = 0
    }

    /// Pictures of more pixels are decoded behind the others, which would wait for them for long.
    private static let maximumArea = 4 << 20
    /// So many of the largest are compared with all.
    private static let candidateCount = 8

    private let state = Mutex(State())

    /// Notes that a size is waited for, until the number that comes back is given to ``remove``.
    func add(_ options: DecodeOptions, to key: SizesKey) -> UInt64 {
        state.withLock { state in
            state.lastNumber += 1
            state.sizes[key, default: [:]][state.lastNumber] = options
            return state.lastNumber
        }
    }

    func remove(_ number: UInt64, from key: SizesKey) {
        state.withLock { state in
            state.sizes[key]?[number] = nil
            if state.sizes[key]?.isEmpty == true { state.sizes[key] = nil }
        }
    }

    /// How many wait for sizes of one original.
    func count(_ key: SizesKey) -> Int { state.withLock { $0.sizes[key]?.count ?? 0 } }

    /// The smallest picture that as many as possible can be made from.
    ///
    /// - Returns: `nil` if nobody waits any more.
    func best(_ key: SizesKey, of source: ImageSource) -> DecodeOptions? {
        let waiting = state.withLock { state in
            state.sizes[key]?.sorted { $0.key < $1.key }.map(\.value) ?? []
        }
        let sizes = waiting.map { options in
            (
                options: options,
                part: ShownPart(
                    options, of: source.pixelSize, isScalable: source.header.isScalable)
            )
        }
        let small = sizes.filter { $0.part.size.area <= Self.maximumArea }
        let candidates = (small.isEmpty ? sizes : small)
            .sorted { $0.part.size.area > $1.part.size.area }.prefix(Self.candidateCount)
        let counted = candidates.map { candidate in
            (
                options: candidate.options,
                count: sizes.count { candidate.part.satisfies($0.part, .inexact) }
            )
        }
        let most = counted.map(\.count).max()
        return counted.last { $0.count == most }?.options
    }
}

/// A picture that several sizes are made from.
struct GatheredImage: Sendable {
    let made: MadeImage
    /// Whose size it is.
    let options: DecodeOptions
}

extension ImagePipeline {
    /// One decode for all sizes of an original that are waited for at about the same time.
    ///
    /// What is chosen is chosen when the bytes are there; who comes later waits for the end, and
    /// has a picture made from the result if that is large enough.
    ///
    /// - Returns: `nil` if the picture is better decoded by itself.
    func gathered(
        _ request: ImageRequest, _ key: ImageKey, _ salt: UInt64,
        _ context: LoadContext<ImageUpdate>
    ) async throws(LoadError) -> MadeImage? {
        guard request.sharesDecode, salt == 0, !request.acceptsSmaller,
            let sizes = SizesKey(DataKey(request, of: key.original, salt: salt), key.options)
        else { return nil }
        let number = gatheredSizes.add(key.options, to: sizes)
        defer { gatheredSizes.remove(number, from: sizes) }
        // Each turn serves somebody, and hardly anybody waits for a second one.
        for _ in 0..<3 {
            let gathered: GatheredImage
            do throws(LoadError) {
                gathered = try await sharedDecodes.value(
                    for: sizes,
                    SharedDecodes.Consumer(
                        urgency: context.urgency, storeWish: context.storeWish,
                        failurePolicy: request.failurePolicy, story: context.story,
                        receive: context.report)
                ) { [self] shared throws(LoadError) in
                    try await decodedForAll(sizes, request, key, shared)
                }
            } catch {
                // A smaller one may find room.
                if case .memoryBudgetExceeded = error { return nil }
                throw error
            }
            if gathered.options == key.options { return gathered.made }
            if let made = try await resized(gathered.made, key, context) { return made }
        }
        return nil
    }

    private func decodedForAll(
        _ sizes: SizesKey, _ request: ImageRequest, _ key: ImageKey,
        _ context: LoadContext<ImageUpdate>
    ) async throws(LoadError) -> GatheredImage {
        let chosen = Mutex(key.options)
        let made = try await decoded(request, key, 0, context) { [gatheredSizes] source in
            let best = gatheredSizes.best(sizes, of: source) ?? key.options
            chosen.withLock { $0 = best }
            return best
        }
        return GatheredImage(made: made, options: chosen.withLock { $0 })
    }
}
