// SPDX-License-Identifier: Apache-2.0

internal import ImageCommands
internal import Foundation
internal import ImageLoading
internal import Pixels
internal import Synchronization

/// The designs that decode on a queue without priorities: `display-size`, `tiled`, `neighbours` and
/// `swapping`.
///
/// An image is tagged with its item and dropped if that is no longer visible.
final class BackgroundImages: ScrollImages {
    struct Options {
        /// The side of tiles in pixels.
        ///
        /// The image is decoded at the smallest power-of-two reduction
        /// that is not smaller than the cell, and drawn in tiles.
        var tileSide: Int?
        /// Whether images are cached, and the next two on each side of the viewport are loaded.
        var keepsNeighbours = false
        /// Whether images are decoded at reduced size while the content moves.
        var swapsResolution = false
    }

    private struct Key: Hashable {
        let item: Int
        let lod: LOD
    }

    private static let neighbourCount = 2

    private let scene: ScrollScene
    private let ledger: ImageLedger
    private let options: Options
    private let queue = OperationQueue()
    private let arrived = Arrivals()
    private var policy = LODPolicy()
    /// The images of visible items.
    private var cells: [Int: ShownImage] = [:]
    private var pending: Set<Key> = []
    private var cache = RecentImages(byteLimit: ScrollDesign.cacheByteLimit)

    init(_ scene: ScrollScene, _ ledger: ImageLedger, _ options: Options) {
        self.scene = scene
        self.ledger = ledger
        self.options = options
        queue.maxConcurrentOperationCount = processorCount()
    }

    func update(_ frame: ScrollFrame) {
        for arrival in arrived.take() { receive(arrival) }
        cells = cells.filter { frame.items.contains($0.key) }
        if !options.keepsNeighbours { pending = pending.filter { frame.items.contains($0.item) } }
        for item in frame.items {
            if cells[item] == nil { cells[item] = cache.image(item) }
            let shown = cells[item]?.lod
            // An empty cell displays the first image that is ready.
            let timeLeft =
                shown == nil ? Duration.zero : frame.timeLeft(for: item, in: scene.layout)
            load(item, frame, timeLeft: timeLeft, shown: shown)
        }
        guard options.keepsNeighbours else { return }
        for item in scene.neighbours(of: frame.items, Self.neighbourCount) {
            load(item, frame, timeLeft: .seconds(1), shown: cache.image(item)?.lod)
        }
    }

    func image(for item: Int) -> ShownImage? { cells[item] }

    func end() async {
        queue.cancelAllOperations()
        while queue.operationCount > 0 { await Task.yield() }
    }

    private func receive(_ arrival: Arrivals.Item) {
        pending.remove(Key(item: arrival.item, lod: arrival.lod))
        for part in arrival.parts { policy.times.note(part.cost, for: arrival.lod) }
        let image = ShownImage(parts: arrival.parts, lod: arrival.lod)
        if options.keepsNeighbours { cache.insert(image, arrival.item) }
        if policy.swaps(arrival.lod, for: cells[arrival.item]?.lod) {
            cells[arrival.item] = image
        }
    }

    private func load(_ item: Int, _ frame: ScrollFrame, timeLeft: Duration, shown: LOD?) {
        let lod =
            options.swapsResolution
            ? policy.lod(velocity: frame.velocity, timeLeft: timeLeft, shown: shown)
            : shown == nil ? .exact : nil
        // A failed image stays in `pending` and is not requested again.
        guard let lod, pending.insert(Key(item: item, lod: lod)).inserted else { return }
        let request = scene.request(item).at(lod)
        queue.addOperation { [ledger, arrived, options] in
            if let side = options.tileSide {
                let parts = ledger.decodeTiles(request, side: side)
                if !parts.isEmpty { arrived.append(.init(item: item, lod: lod, parts: parts)) }
            } else if let image = ledger.decode(request) {
                arrived.append(.init(item: item, lod: lod, parts: [image]))
            }
        }
    }
}

/// Decoded images that the drawing thread has not received yet.
final class Arrivals: Sendable {
    struct Item: Sendable {
        let item: Int
        let lod: LOD
        let parts: [LoadedImage]
    }

    private let items = Mutex<[Item]>([])

    func append(_ item: Item) { items.withLock { $0.append(item) } }

    func take() -> [Item] {
        items.withLock { items in
            defer { items = [] }
            return items
        }
    }
}

/// A cache of images with least-recently-used eviction.
private struct RecentImages {
    let byteLimit: Int
    private var byteCount = 0
    private var images: [Int: ShownImage] = [:]
    /// The items, least recently used first.
    private var order: [Int] = []

    init(byteLimit: Int) { self.byteLimit = byteLimit }

    mutating func image(_ item: Int) -> ShownImage? {
        guard let image = images[item] else { return nil }
        touch(item)
        return image
    }

    mutating func insert(_ image: ShownImage, _ item: Int) {
        if let known = images[item] {
            guard image.lod > known.lod else { return }
            byteCount -= known.byteCount
        }
        images[item] = image
        byteCount += image.byteCount
        touch(item)
        while byteCount > byteLimit, let oldest = order.first {
            order.removeFirst()
            byteCount -= images.removeValue(forKey: oldest)?.byteCount ?? 0
        }
    }

    private mutating func touch(_ item: Int) {
        order.removeAll { $0 == item }
        order.append(item)
    }
}

extension ShownImage {
    fileprivate var byteCount: Int { parts.reduce(0) { $0 + $1.image.byteCount } }
}
