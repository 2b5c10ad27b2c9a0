// SPDX-License-Identifier: Apache-2.0

internal import PictureCommands
internal import Foundation
internal import ImageLoading
internal import Pixels
internal import Synchronization

/// Decodes pictures on a queue without priorities; what comes too late is told by its tag, which is
/// the number of the item.
final class BackgroundPictures: ScrollPictures {
    struct Options {
        /// The side of tiles, in which a picture is then shown: half its size, or half of that,
        /// until the next would be smaller than the cell.
        var tileSide: Int?
        /// Whether pictures are kept, and the next two on either side of what is in view loaded, too.
        var keepsNeighbours = false
        /// Whether pictures are smaller while the content moves.
        var swapsResolution = false
    }

    private struct Key: Hashable {
        let item: Int
        let lod: LOD
    }

    private static let neighbourCount = 2

    private let scene: ScrollScene
    private let ledger: PictureLedger
    private let options: Options
    private let queue = OperationQueue()
    private let arrived = Arrivals()
    private var policy = LODPolicy()
    /// Of each item in view, what is there.
    private var cells: [Int: ShownPicture] = [:]
    private var pending: Set<Key> = []
    private var cache = RecentPictures(byteLimit: ScrollDesign.cacheByteLimit)

    init(_ scene: ScrollScene, _ ledger: PictureLedger, _ options: Options) {
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
            if cells[item] == nil { cells[item] = cache.picture(item) }
            let shown = cells[item]?.lod
            // An empty cell takes what comes first.
            let timeLeft =
                shown == nil ? Duration.zero : frame.timeLeft(for: item, in: scene.layout)
            ask(item, frame, timeLeft: timeLeft, shown: shown)
        }
        guard options.keepsNeighbours else { return }
        for item in scene.neighbours(of: frame.items, Self.neighbourCount) {
            ask(item, frame, timeLeft: .seconds(1), shown: cache.picture(item)?.lod)
        }
    }

    func picture(for item: Int) -> ShownPicture? { cells[item] }

    func end() async {
        queue.cancelAllOperations()
        while queue.operationCount > 0 { await Task.yield() }
    }

    private func receive(_ arrival: Arrivals.Item) {
        pending.remove(Key(item: arrival.item, lod: arrival.lod))
        for part in arrival.parts { policy.times.note(part.cost, for: arrival.lod) }
        let picture = ShownPicture(parts: arrival.parts, lod: arrival.lod)
        if options.keepsNeighbours { cache.insert(picture, arrival.item) }
        // The tag: a cell that shows something else by now has no use for it.
        if policy.swaps(arrival.lod, for: cells[arrival.item]?.lod) {
            cells[arrival.item] = picture
        }
    }

    private func ask(_ item: Int, _ frame: ScrollFrame, timeLeft: Duration, shown: LOD?) {
        let lod =
            options.swapsResolution
            ? policy.lod(velocity: frame.velocity, timeLeft: timeLeft, shown: shown)
            : shown == nil ? .exact : nil
        // A picture that failed stays among those under way, and is not asked for again.
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

/// Pictures on their way to the thread that draws.
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

/// The pictures that were used last, within a limit of bytes.
private struct RecentPictures {
    let byteLimit: Int
    private var byteCount = 0
    private var pictures: [Int: ShownPicture] = [:]
    /// The one that was not used for longest first.
    private var order: [Int] = []

    init(byteLimit: Int) { self.byteLimit = byteLimit }

    mutating func picture(_ item: Int) -> ShownPicture? {
        guard let picture = pictures[item] else { return nil }
        touch(item)
        return picture
    }

    mutating func insert(_ picture: ShownPicture, _ item: Int) {
        if let known = pictures[item] {
            guard picture.lod > known.lod else { return }
            byteCount -= known.byteCount
        }
        pictures[item] = picture
        byteCount += picture.byteCount
        touch(item)
        while byteCount > byteLimit, let oldest = order.first {
            order.removeFirst()
            byteCount -= pictures.removeValue(forKey: oldest)?.byteCount ?? 0
        }
    }

    private mutating func touch(_ item: Int) {
        order.removeAll { $0 == item }
        order.append(item)
    }
}

extension ShownPicture {
    fileprivate var byteCount: Int { parts.reduce(0) { $0 + $1.image.byteCount } }
}
