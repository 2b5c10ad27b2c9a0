// SPDX-License-Identifier: Apache-2.0

internal import ImageLoading
internal import Pixels

/// The cells on a screen.
struct CellScreen {
    private struct Cell {
        var parts: Set<ObjectIdentifier>
        var isSharp: Bool
    }

    private let ledger: PictureLedger
    private var cells: [Int: Cell] = [:]
    private(set) var items = 0..<0
    /// Cells that came into view so far.
    private(set) var revealedCount = 0

    init(_ ledger: PictureLedger) { self.ledger = ledger }

    var emptyCount: Int { items.count - cells.count }
    var unsharpCount: Int { cells.values.count { !$0.isSharp } }
    /// Whether every cell in view is sharp.
    var isSharp: Bool { emptyCount == 0 && unsharpCount == 0 }

    func isSharp(_ item: Int) -> Bool { cells[item]?.isSharp ?? false }

    /// Puts the pictures of these items on the screen; a picture that is new there is copied once, as
    /// it would be into a texture.
    mutating func draw(_ items: Range<Int>, _ pictures: any ScrollPictures) {
        revealedCount += items.count { !self.items.contains($0) }
        self.items = items
        cells = cells.filter { items.contains($0.key) }
        for item in items {
            guard let picture = pictures.picture(for: item), !picture.parts.isEmpty else {
                cells[item] = nil
                continue
            }
            let known = cells[item]?.parts ?? []
            for part in picture.parts where !known.contains(ObjectIdentifier(part)) {
                upload(part.image)
                ledger.show(part)
            }
            cells[item] = Cell(
                parts: Set(picture.parts.map(ObjectIdentifier.init)), isSharp: picture.isSharp)
        }
    }

    private func upload(_ image: PixelBuffer) {
        var texture = MutablePixelBuffer(image)
        // Whoever may change a picture that others hold gets a copy of it.
        texture.withMutableRow(0) { _ in }
    }
}

/// Waits for the cells in view to become sharp while the content is at rest.
struct RestWatch {
    let range: Range<Double>
    private var waiting: Set<Int>?
    private var times: [Double] = []

    init(_ range: Range<Double>) { self.range = range }

    /// Takes in a frame for the time `start` that was on the screen from `end` on.
    mutating func note(_ screen: CellScreen, from start: Double, until end: Double) {
        guard start >= range.lowerBound, start < range.upperBound else { return }
        var left = waiting ?? Set(screen.items)
        // What was sharp already when the content came to rest took no time.
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
