// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// Encodes GIF: exactly for up to 256 colours, otherwise with an optimized palette and dithering.
///
/// Pixels with less than half opacity become transparent, all others opaque.
struct GIFEncoder: AnimationEncoder {
    func isSlow(_ size: PixelSize, _ options: EncodeOptions) -> Bool {
        size.area > 1 << 22
    }

    func encode(_ image: PixelBuffer, _ options: EncodeOptions) throws(CodecError) -> [UInt8] {
        var writer = try GIFWriter(image.size, loopCount: 1, options)
        try writer.append(image, duration: .zero)
        return try writer.finish()
    }

    func animationWriter(
        _ size: PixelSize, loopCount: Int, _ options: EncodeOptions
    ) throws(CodecError) -> any AnimationWriter {
        try GIFWriter(size, loopCount: loopCount, options)
    }
}

/// Encodes the frames of an animation, of each the region that differs from the previous one.
///
/// A frame is written when the next one is known: if that is transparent where this one is not,
/// this one's disposal method clears its region.
struct GIFWriter: AnimationWriter {
    private let size: PixelSize
    private let loopCount: Int
    private let options: EncodeOptions
    private var file: [UInt8] = []
    /// The frame that has not been written yet, with its start and end times.
    private var pending: (pixels: [UInt32], start: Duration, end: Duration)?
    /// The pixels on the canvas before the pending frame is drawn.
    private var canvas: [UInt32]
    private var hasFrames = false

    init(_ size: PixelSize, loopCount: Int, _ options: EncodeOptions) throws(CodecError) {
        guard size.largestSide <= 65_535 else {
            throw .unsupported(feature: "GIF of \(size) pixels; the largest side is 65535")
        }
        guard loopCount >= 0 else {
            throw .unsupported(feature: "GIF with the negative loop count \(loopCount)")
        }
        self.size = size
        self.loopCount = loopCount
        self.options = options
        canvas = Array(repeating: 0, count: size.area)
    }

    mutating func append(_ image: PixelBuffer, duration: Duration) throws(CodecError) {
        precondition(image.size == size, "a frame must have the size of the animation")
        if file.isEmpty { writeHeader(image.colorProfile) }
        let pixels = Self.pixels(of: image)
        let start = pending?.end ?? .zero
        writePending(before: pixels)
        pending = (pixels, start, start + max(.zero, duration))
    }

    mutating func finish() throws(CodecError) -> [UInt8] {
        precondition(pending != nil, "an animation needs at least one frame")
        writePending(before: nil)
        return file + [0x3B]
    }

    private mutating func writeHeader(_ profile: ColorProfile) {
        file = Array("GIF89a".utf8) + Self.number(size.width) + Self.number(size.height)
        // No global colour table: each frame has a local one.
        file += [0x70, 0, 0]
        if loopCount != 1 {
            let repeats = loopCount == 0 ? 0 : Int(UInt16(clamping: loopCount - 1))
            file += [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8)
            file += [3, 1] + Self.number(repeats) + [0]
        }
        if case .icc(let bytes) = profile {
            file += [0x21, 0xFF, 11] + Array("ICCRGBG1012".utf8)
            for start in stride(from: 0, to: bytes.count, by: 255) {
                let piece = bytes[start..<min(start + 255, bytes.count)]
                file += [UInt8(piece.count)] + piece
            }
            file.append(0)
        }
        if let xmp = options.metadata.xmp {
            file += [0x21, 0xFF, 11] + Array("XMP DataXMP".utf8) + xmp
            file += [1] + (0...255).reversed().map { UInt8($0) } + [0]
        }
    }

    private mutating func writePending(before following: [UInt32]?) {
        guard let (pixels, start, end) = pending else { return }
        pending = nil
        var changed = GIFBoundingBox(size)
        var vanishing = GIFBoundingBox(size)
        for (place, pixel) in pixels.enumerated() {
            if pixel != canvas[place] { changed.add(place) }
            if let following, pixel != 0, following[place] == 0 { vanishing.add(place) }
        }
        // Some decoders require that the first frame covers the canvas.
        if !hasFrames { changed = GIFBoundingBox(whole: size) }
        hasFrames = true
        let disposal: UInt8 = vanishing.isEmpty ? 1 : 2
        changed.add(vanishing)
        // If nothing changes, one redrawn pixel keeps the frame and its delay.
        if changed.isEmpty { changed.add(0) }
        let region = changed.region
        var part: [UInt32] = []
        part.reserveCapacity(region.size.area)
        for y in region.y..<region.y + region.height {
            for x in region.x..<region.x + region.width {
                let place = y * size.width + x
                // Unchanged pixels compress best as transparent.
                part.append(canvas[place] == pixels[place] ? 0 : pixels[place])
                canvas[place] = disposal == 2 ? 0 : pixels[place]
            }
        }
        write(part, region, disposal, Self.centiseconds(end) - Self.centiseconds(start))
    }

    private mutating func write(
        _ pixels: [UInt32], _ region: PixelRect, _ disposal: UInt8, _ delay: Int
    ) {
        let indexed = GIFIndexedImage(pixels, width: region.width)
        let flags = disposal << 2 | (indexed.transparentIndex == nil ? 0 : 1)
        if indexed.transparentIndex != nil || loopCount != 1 || delay > 0 || disposal != 1 {
            file += [0x21, 0xF9, 4, flags] + Self.number(min(delay, 65_535))
            file += [indexed.transparentIndex ?? 0, 0]
        }
        file += [0x2C] + Self.number(region.x) + Self.number(region.y)
        file += Self.number(region.width) + Self.number(region.height)
        file.append(0x80 | UInt8(indexed.bits - 1))
        for index in 0..<1 << indexed.bits {
            let color = index < indexed.colors.count ? indexed.colors[index] : 0
            file += [
                UInt8(truncatingIfNeeded: color), UInt8(truncatingIfNeeded: color >> 8),
                UInt8(truncatingIfNeeded: color >> 16),
            ]
        }
        file += GIFLZWEncoder.compressed(indexed.indices, bits: indexed.bits)
    }

    private static func centiseconds(_ time: Duration) -> Int {
        let (seconds, rest) = time.components
        let whole = Int(clamping: seconds).multipliedReportingOverflow(by: 100)
        let part = Int((rest + 5_000_000_000_000_000) / 10_000_000_000_000_000)
        return whole.overflow ? Int.max / 2 : min(whole.partialValue, Int.max / 2) + part
    }

    private static func number(_ value: Int) -> [UInt8] {
        [UInt8](value, byteCount: 2, .littleEndian)
    }

    /// Returns opaque colours with alpha 255 in the highest byte, and 0 for transparent pixels.
    private static func pixels(of image: PixelBuffer) -> [UInt32] {
        let hasAlpha = image.format.hasAlpha
        let image = image.converted(to: .rgba8)
        var pixels: [UInt32] = []
        pixels.reserveCapacity(image.size.area)
        for y in 0..<image.size.height {
            let row = image.row(y)
            for place in stride(from: 0, to: row.count - 3, by: 4) {
                let alpha = row[place + 3]
                guard alpha >= 128 else {
                    pixels.append(0)
                    continue
                }
                var color: UInt32 = 0xFF00_0000
                for channel in 0..<3 {
                    let value =
                        hasAlpha && alpha < 255
                        ? PremultipliedAlpha.divided(row[place + channel], by: alpha)
                        : row[place + channel]
                    color |= UInt32(value) << UInt32(channel * 8)
                }
                pixels.append(color)
            }
        }
        return pixels
    }
}

/// The bounding box of a set of pixels.
private struct GIFBoundingBox {
    private let width: Int
    private var left = Int.max
    private var top = Int.max
    private var right = -1
    private var bottom = -1

    init(_ size: PixelSize) { width = size.width }

    init(whole size: PixelSize) {
        width = size.width
        (left, top, right, bottom) = (0, 0, size.width - 1, size.height - 1)
    }

    var isEmpty: Bool { right < 0 }

    var region: PixelRect {
        PixelRect(x: left, y: top, width: right - left + 1, height: bottom - top + 1)
    }

    mutating func add(_ place: Int) {
        let (y, x) = place.quotientAndRemainder(dividingBy: width)
        left = min(left, x)
        right = max(right, x)
        top = min(top, y)
        bottom = max(bottom, y)
    }

    mutating func add(_ other: GIFBoundingBox) {
        left = min(left, other.left)
        right = max(right, other.right)
        top = min(top, other.top)
        bottom = max(bottom, other.bottom)
    }
}
