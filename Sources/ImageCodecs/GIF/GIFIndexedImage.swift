// SPDX-License-Identifier: Apache-2.0

/// An image as a colour table with an index per pixel.
struct GIFIndexedImage {
    /// The colours, red in the lowest byte.
    private(set) var colors: [UInt32]
    private(set) var transparentIndex: UInt8?
    private(set) var indices: [UInt8] = []
    /// The number of bits of an index, 1 to 8.
    private(set) var bits = 1

    /// - Parameters:
    ///   - pixels: colours with 255 in the highest byte, and 0 for transparent pixels.
    ///   - width: the number of pixels per row.
    init(_ pixels: [UInt32], width: Int) {
        let isTransparent = pixels.contains(0)
        let room = isTransparent ? 255 : 256
        if let table = GIFColorTable(exactly: pixels, atMost: room) {
            colors = table.colors
            indices = pixels.map { $0 == 0 ? 0 : table.index(of: $0) }
        } else {
            colors = GIFQuantizer.palette(of: pixels, count: room)
            indices = GIFDithering.indices(of: pixels, width: width, colors)
        }
        if isTransparent {
            let index = UInt8(colors.count)
            transparentIndex = index
            colors.append(0)
            for place in pixels.indices where pixels[place] == 0 { indices[place] = index }
        }
        while 1 << bits < colors.count { bits += 1 }
    }
}

/// A hash table from up to 256 colours to their indices.
private struct GIFColorTable {
    private static let slotCount = 1024

    private(set) var colors: [UInt32] = []
    private var slots = [UInt16](repeating: .max, count: slotCount)

    /// Collects the distinct colours of an image in order of appearance; `nil` if there are more
    /// than `count`.
    init?(exactly pixels: [UInt32], atMost count: Int) {
        var last: UInt32 = 0
        for pixel in pixels where pixel != 0 && pixel != last {
            last = pixel
            let slot = slot(of: pixel)
            guard slots[slot] == .max else { continue }
            guard colors.count < count else { return nil }
            slots[slot] = UInt16(colors.count)
            colors.append(pixel)
        }
    }

    func index(of color: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: slots[slot(of: color)]) }

    private func slot(of color: UInt32) -> Int {
        var slot = Int((color &* 0x9E37_79B1) >> 22)
        while slots[slot] != .max && colors[Int(slots[slot])] != color {
            slot = (slot + 1) & (Self.slotCount - 1)
        }
        return slot
    }
}

/// Error diffusion (Floyd and Steinberg, 1976).
enum GIFDithering {
    static func indices(of pixels: [UInt32], width: Int, _ colors: [UInt32]) -> [UInt8] {
        var nearest = GIFNearestColor(colors)
        var indices = [UInt8](repeating: 0, count: pixels.count)
        // The errors in sixteenths of a level: three channels per pixel of this row and the next,
        // with a margin of one pixel on each side.
        var errors = [Int32](repeating: 0, count: (width + 2) * 3)
        var below = errors
        for y in 0..<pixels.count / max(1, width) {
            // Rows alternate in direction, so that errors do not drift to one side.
            let isForward = y % 2 == 0
            let step = isForward ? 3 : -3
            for column in 0..<width {
                let x = isForward ? column : width - 1 - column
                let pixel = pixels[y * width + x]
                let place = (x + 1) * 3
                guard pixel != 0 else { continue }
                var wanted = (Int32(0), Int32(0), Int32(0))
                wanted.0 = clamped(Int32(pixel & 255), errors[place])
                wanted.1 = clamped(Int32(pixel >> 8 & 255), errors[place + 1])
                wanted.2 = clamped(Int32(pixel >> 16 & 255), errors[place + 2])
                let index = nearest.index(wanted.0, wanted.1, wanted.2)
                indices[y * width + x] = UInt8(truncatingIfNeeded: index)
                let color = colors[index]
                spread(wanted.0 - Int32(color & 255), place, step, &errors, &below)
                spread(wanted.1 - Int32(color >> 8 & 255), place + 1, step, &errors, &below)
                spread(wanted.2 - Int32(color >> 16 & 255), place + 2, step, &errors, &below)
            }
            swap(&errors, &below)
            for place in below.indices { below[place] = 0 }
        }
        return indices
    }

    @inline(__always)
    private static func clamped(_ level: Int32, _ error: Int32) -> Int32 {
        min(max(level + (error + 8) >> 4, 0), 255)
    }

    @inline(__always)
    private static func spread(
        _ error: Int32, _ place: Int, _ step: Int, _ errors: inout [Int32], _ below: inout [Int32]
    ) {
        errors[place + step] += error * 7
        below[place - step] += error * 3
        below[place] += error * 5
        below[place + step] += error
    }
}

/// Finds the nearest colour of a palette, and caches the results.
private struct GIFNearestColor {
    private let search: GIFColorSearch
    /// The result for each colour rounded to 6 bits per channel.
    private var known = [UInt16](repeating: .max, count: 1 << 18)

    init(_ colors: [UInt32]) {
        search = GIFColorSearch(
            colors.map { (Float($0 & 255), Float($0 >> 8 & 255), Float($0 >> 16 & 255)) })
    }

    mutating func index(_ red: Int32, _ green: Int32, _ blue: Int32) -> Int {
        let cell = Int((red >> 2) << 12 | (green >> 2) << 6 | blue >> 2)
        if known[cell] != .max { return Int(known[cell]) }
        let best = search.nearest(Float(red), Float(green), Float(blue))
        known[cell] = UInt16(truncatingIfNeeded: best)
        return best
    }
}
