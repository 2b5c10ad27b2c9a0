// SPDX-License-Identifier: Apache-2.0

/// What surrounds or covers the resized image of a rendition.
struct FrameOptions: Hashable {
    /// How the box beside an image that is smaller is filled.
    struct Extending: Hashable {
        var gravity = Gravity.center
        /// Whether the image itself, enlarged and blurred, fills the box instead of a colour.
        var isBlurred = false
    }

    /// Margins in pixels of the box.
    struct Margins: Hashable {
        var top, right, bottom, left: Int
    }

    /// The watermark of the server and its place.
    struct Watermark: Hashable {
        var opacity = 1.0
        var gravity = Gravity.center
        /// Whether the image is repeated; the offsets of the gravity are the gaps.
        var isTiled = false
        /// The fraction of the rendition that the watermark takes; `nil` for its own size.
        var scale: Double?
    }

    var extending: Extending?
    var margins: Margins?
    var watermark: Watermark?

    var isEmpty: Bool { extending == nil && margins == nil && watermark == nil }

    /// A unique text of the options that are set; see ``RenditionOptions/text``.
    var texts: [String] {
        var texts: [String] = []
        if let extending {
            texts.append("extend\(extending.isBlurred ? "-blur" : "")\(extending.gravity.text)")
        }
        if let margins {
            texts.append("pad\(margins.top)x\(margins.right)x\(margins.bottom)x\(margins.left)")
        }
        if let watermark {
            texts.append(
                "watermark\(watermark.opacity)-\(watermark.gravity.text)"
                    + (watermark.isTiled ? "-tiled" : "")
                    + (watermark.scale.map { "-\($0)" } ?? ""))
        }
        return texts
    }
}
