// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import ImageLoading
internal import Pixels

/// A screen, and how the pictures lie behind it.
struct ScrollScene {
    let name: String
    let layout: GridLayout
    /// How much of the content is in view along the axis of scrolling, in pixels.
    let screenLength: Double
    /// The largest size at which a picture is shown.
    let cell: PixelSize
    /// One file an item.
    let paths: [String]

    static let names = ["carousel", "grid"]

    init?(_ name: String, _ paths: [String]) {
        switch name {
        case "carousel":
            layout = GridLayout(itemCount: paths.count, rowLength: 800)
            screenLength = 800
            cell = PixelSize(width: 800, height: 600)
        case "grid":
            // 1200 pixels wide.
            layout = GridLayout(itemCount: paths.count, columnCount: 3, rowLength: 400)
            screenLength = 800
            cell = PixelSize(width: 400, height: 400)
        default: return nil
        }
        self.name = name
        self.paths = paths
    }

    /// What is in view, never beyond the ends of the content.
    func visible(at offset: Double) -> Range<Double> {
        let start = min(max(offset, 0), max(0, layout.length - screenLength))
        return start..<start + screenLength
    }

    /// Asks for the picture of an item as it is shown.
    func request(_ item: Int) -> ImageRequest {
        ImageRequest(path: paths[item], options: DecodeOptions(box: cell))
    }

    /// So many items on either side of those in view.
    func neighbours(of items: Range<Int>, _ count: Int) -> [Int] {
        let before = max(0, items.lowerBound - count)..<items.lowerBound
        let after = items.upperBound..<min(paths.count, items.upperBound + count)
        return Array(after) + before.reversed()
    }

    /// The items that come into view anywhere in a trace, and those a screen away from them.
    func items(_ trace: ScrollTrace) -> Range<Int> {
        let offsets = trace.samples.map(\.offset)
        return layout.items(
            in: (offsets.min() ?? 0) - screenLength..<(offsets.max() ?? 0) + 2 * screenLength)
    }
}

/// What the screen is to show next.
struct ScrollFrame {
    let visible: Range<Double>
    let items: Range<Int>
    /// In pixels a second.
    let velocity: Double

    init(_ scene: ScrollScene, offset: Double, velocity: Double) {
        visible = scene.visible(at: offset)
        items = scene.layout.items(in: visible)
        self.velocity = velocity
    }

    /// How long an item stays in view, and without end at rest.
    func timeLeft(for item: Int, in layout: GridLayout) -> Duration {
        let extent = layout.extent(of: item)
        let distance =
            velocity < 0
            ? visible.upperBound - extent.lowerBound : extent.upperBound - visible.lowerBound
        return .seconds(min(distance / max(abs(velocity), 1), 3600))
    }
}

/// A picture in a cell.
struct ShownPicture {
    /// One, or those tiles of it that are there.
    var parts: [LoadedImage]
    let lod: LOD
    /// Whether no part is missing.
    var isWhole = true

    var isSharp: Bool { lod == .exact && isWhole }
}

/// Brings pictures into cells, in one way or another; called by the thread that draws alone.
protocol ScrollPictures: AnyObject {
    /// Does what there is to do on the thread that draws before a frame.
    func update(_ frame: ScrollFrame)
    /// What the cell of an item in view shows.
    func picture(for item: Int) -> ShownPicture?
    /// Gives up what is under way and waits for its end.
    func end() async
}
