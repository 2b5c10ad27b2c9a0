// SPDX-License-Identifier: Apache-2.0

internal import ImageLoading
internal import Pixels

/// The visible cells of a screen.
struct CellScreen {
    private struct Cell {
        var parts: Set<ObjectIdentifier>
        var isSharp: Bool
    }

    private let ledger: ImageLedger
    private var cells: [Int: Cell] = [:]
    private(set) var items = 0..<0
    /// The number of cells that have become visible.
    private(set) var revealedCount = 0

    init(_ ledger: ImageLedger) { self.ledger = ledger }

    var emptyCount: Int { items.count - cells.count }
    var unsharpCount: Int { cells.values.count { !$0.isSharp } }
    /// Whether all visible cells are sharp.
    var isSharp: Bool { emptyCount == 0 && unsharpCount == 0 }

    func isSharp(_ item: Int) -> Bool { cells[item]?.isSharp ?? false }

    /// Draws the images of items; each image that is new on the screen is copied once, as into a
    /// texture.
    mutating func draw(_ items: Range<Int>, _ images: any ScrollImages) {
        revealedCount += items.count { !self.items.contains($0) }
        self.items = items
        cells = cells.filter { items.contains($0.key) }
        for item in items {
            guard let image = images.image(for: item), !image.parts.isEmpty else {
                cells[item] = nil
                continue
            }
            let known = cells[item]?.parts ?? []
            for part in image.parts where !known.contains(ObjectIdentifier(part)) {
                upload(part.image)
                ledger.show(part)
            }
            cells[item] = Cell(
                parts: Set(image.parts.map(ObjectIdentifier.init)), isSharp: image.isSharp)
        }
    }

    private func upload(_ image: PixelBuffer) {
        var texture = MutablePixelBuffer(image)
        // Mutable access to shared pixels copies them.
        texture.withMutableRow(0) { _ in }
    }
}

/// Measures the time until the visible cells are sharp while the content is at rest.
struct RestWatch {
    let range: Range<Double>
    private var waiting: Set<Int>?
    private var times: [Double] = []

    init(_ range: Range<Double>) { self.range = range }

    /// Records the frame of the time `start`, which was displayed from `end` on.
    mutating func record(_ screen: CellScreen, from start: Double, until end: Double) {
        guard start >= range.lowerBound, start < range.upperBound else { return }
        var left = waiting ?? Set(screen.items)
        // Cells that are sharp at the start of the rest count with a time of zero.
        let time = waiting == nil ? 0 : max(0, min(end, range.upperBound) - range.lowerBound)
        for item in left where screen.isSharp(item) {
            left.remove(item)
            times.append(time)
        }
        waiting = left
    }

    func finish(_ result: inout ScrollResult) {
        let never = waiting?.count ?? 0
        result.neverSharpCount += never
        result.sharpTimes +=
            times + Array(repeating: range.upperBound - range.lowerBound, count: never)
    }
}
