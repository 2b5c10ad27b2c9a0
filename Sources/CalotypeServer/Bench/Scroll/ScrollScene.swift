// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import ImageLoading
internal import Pixels

/// A screen and the layout of the images that scroll through it.
struct ScrollScene {
    let name: String
    let layout: GridLayout
    /// The length of the viewport along the scroll axis, in pixels.
    let screenLength: Double
    /// The size of a cell, in pixels.
    let cell: PixelSize
    /// The file of each item.
    let paths: [String]

    static let names = ["carousel", "grid"]

    init?(_ name: String, _ paths: [String]) {
        switch name {
        case "carousel":
            layout = GridLayout(itemCount: paths.count, rowLength: 800)
            screenLength = 800
            cell = PixelSize(width: 800, height: 600)
        case "grid":
            layout = GridLayout(itemCount: paths.count, columnCount: 3, rowLength: 400)
            screenLength = 800
            cell = PixelSize(width: 400, height: 400)
        default: return nil
        }
        self.name = name
        self.paths = paths
    }

    /// The visible range at an offset, clamped to the content.
    func visible(at offset: Double) -> Range<Double> {
        let start = min(max(offset, 0), max(0, layout.length - screenLength))
        return start..<start + screenLength
    }

    /// The request for the image of an item at the size of a cell.
    func request(_ item: Int) -> ImageRequest {
        ImageRequest(path: paths[item], options: DecodeOptions(box: cell))
    }

    /// The items next to the visible ones, up to `count` on each side, those after them first.
    func neighbours(of items: Range<Int>, _ count: Int) -> [Int] {
        let before = max(0, items.lowerBound - count)..<items.lowerBound
        let after = items.upperBound..<min(paths.count, items.upperBound + count)
        return Array(after) + before.reversed()
    }

    /// The items that become visible during a trace, and those within a screen of them.
    func items(_ trace: ScrollTrace) -> Range<Int> {
        let offsets = trace.samples.map(\.offset)
        return layout.items(
            in: (offsets.min() ?? 0) - screenLength..<(offsets.max() ?? 0) + 2 * screenLength)
    }
}

/// The state of scrolling at a frame.
struct ScrollFrame {
    let visible: Range<Double>
    let items: Range<Int>
    /// In pixels per second.
    let velocity: Double

    init(_ scene: ScrollScene, offset: Double, velocity: Double) {
        visible = scene.visible(at: offset)
        items = scene.layout.items(in: visible)
        self.velocity = velocity
    }

    /// The time that an item stays visible at the current velocity, at most an hour.
    func timeLeft(for item: Int, in layout: GridLayout) -> Duration {
        let extent = layout.extent(of: item)
        let distance =
            velocity < 0
            ? visible.upperBound - extent.lowerBound : extent.upperBound - visible.lowerBound
        return .seconds(min(distance / max(abs(velocity), 1), 3600))
    }
}

/// The image displayed in a cell.
struct ShownImage {
    /// The image, or the tiles of it that are loaded.
    var parts: [LoadedImage]
    let lod: LOD
    /// Whether all parts are loaded.
    var isWhole = true

    var isSharp: Bool { lod == .exact && isWhole }
}

/// A strategy that loads images into cells; called only on the thread that draws.
protocol ScrollImages: AnyObject {
    /// Performs the work of the drawing thread before a frame.
    func update(_ frame: ScrollFrame)
    /// The image displayed in the cell of a visible item; `nil` for an empty cell.
    func image(for item: Int) -> ShownImage?
    /// Cancels all loads and waits for them to finish.
    func end() async
}
