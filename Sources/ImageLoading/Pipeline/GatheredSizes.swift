// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels
internal import Synchronization

/// The sizes of originals that loads are waiting for, gathered for the next decode of each original.
///
/// A lock: held while sizes are added, removed or taken.
final class GatheredSizes: Sendable {
    /// A decode that gives several sizes; it accepts sizes until they are taken.
    typealias DecodeNumber = UInt64

    private struct Waiting {
        let decode: DecodeNumber
        let options: DecodeOptions
    }

    /// A decode that has taken its sizes, and the first of them.
    private struct Running {
        let source: ImageSource
        let options: DecodeOptions
    }

    private struct State {
        /// By ``ImageLoadKey/withoutSize``: the decode that accepts sizes.
        var open: [ImageLoadKey: DecodeNumber] = [:]
        /// By the same key: the decodes whose planes are kept when they end.
        var running: [ImageLoadKey: [DecodeNumber: Running]] = [:]
        /// By the same key: the sizes that are waited for, by their increasing tickets.
        var waiting: [ImageLoadKey: [UInt64: Waiting]] = [:]
        var lastNumber: UInt64 = 0

        mutating func nextNumber() -> UInt64 {
            lastNumber += 1
            return lastNumber
        }
    }

    /// Sizes of more pixels in total take several decodes, so that the first ones are not late.
    private static let maximumArea = 16 << 20
    private static let maximumCount = 64

    private let state = Mutex(State())

    /// Returns a place in the order in which sizes are waited for.
    func makeTicket() -> UInt64 { state.withLock { $0.nextNumber() } }

    /// Adds a size to the next decode, until ``remove(_:from:)`` is called.
    ///
    /// - Returns: the decode to wait for: one that is running, if the size will be made of its planes.
    func add(
        _ options: DecodeOptions, to key: ImageLoadKey, as ticket: UInt64
    ) -> DecodeNumber {
        // Outside of the lock, since a plan parses the colour profile. A decode that has ended by then
        // begins again.
        let running = state.withLock { $0.running[key] }?.first { _, running in
            running.source.sharesPlanes(running.options, options)
        }?.key
        return state.withLock { state in
            let decode = running ?? state.open[key] ?? state.nextNumber()
            if running == nil { state.open[key] = decode }
            state.waiting[key, default: [:]][ticket] = Waiting(decode: decode, options: options)
            return decode
        }
    }

    func remove(_ ticket: UInt64, from key: ImageLoadKey) {
        state.withLock { state in
            state.waiting[key]?[ticket] = nil
            guard state.waiting[key]?.isEmpty == true else { return }
            state.waiting[key] = nil
            state.open[key] = nil
        }
    }

    /// The number of loads that wait for sizes of one original.
    func count(_ key: ImageLoadKey) -> Int { state.withLock { $0.waiting[key]?.count ?? 0 } }

    /// Takes the sizes that a decode gives, and closes it for others.
    ///
    /// Sizes that are known to be made of the same planes as the first one precede all others, for which a
    /// decoder may shrink by another factor: these would only take the place of sizes that can be made.
    ///
    /// - Returns: distinct sizes, the one that has waited longest first; none if all have left.
    func take(
        _ decode: DecodeNumber, _ key: ImageLoadKey, of source: ImageSource
    ) -> [DecodeOptions] {
        let waiting = state.withLock { state in
            if state.open[key] == decode { state.open[key] = nil }
            return (state.waiting[key] ?? [:]).filter { $0.value.decode == decode }
        }
        var taken: [DecodeOptions] = []
        var area = 0
        let inOrder = waiting.sorted { $0.key < $1.key }.map(\.value.options)
        guard let first = inOrder.first else { return [] }
        let alike = inOrder.filter { $0 == first || source.sharesPlanes(first, $0) }
        for options in alike + inOrder
        where taken.count < Self.maximumCount && !taken.contains(options) {
            let size = source.resultSize(options)
            guard size.largestSide <= source.limits.maximumSide else { continue }
            let (sum, isTooMuch) = area.addingReportingOverflow(size.area)
            guard taken.isEmpty || (!isTooMuch && sum <= Self.maximumArea) else { continue }
            area = isTooMuch ? .max : sum
            taken.append(options)
        }
        return taken
    }

    /// Lets sizes wait for a decode of `options` whose planes are kept, until ``end(_:_:)`` is called.
    func begin(
        _ decode: DecodeNumber, _ key: ImageLoadKey, _ source: ImageSource, _ options: DecodeOptions
    ) {
        let running = Running(source: source, options: options)
        state.withLock { $0.running[key, default: [:]][decode] = running }
    }

    /// Notes that a decode has ended.
    func end(_ decode: DecodeNumber, _ key: ImageLoadKey) {
        state.withLock { state in
            state.running[key]?[decode] = nil
            if state.running[key]?.isEmpty == true { state.running[key] = nil }
        }
    }
}
