// SPDX-License-Identifier: Apache-2.0

internal import Pixels

/// The canvas of an animation: premultiplied RGBA, transparent at first.
struct FrameCanvas: ~Copyable {
    private var buffer: MutablePixelBuffer
    /// The disposal of the last frame: its region, and the pixels to restore, if any.
    private var disposal: (region: PixelRect, covered: [UInt8]?)?

    init(_ size: PixelSize, _ colorProfile: ColorProfile) {
        buffer = MutablePixelBuffer(size: size, format: .rgba8, colorProfile: colorProfile)
    }

    /// Disposes of the last frame, then draws the next one.
    mutating func draw(_ frame: StoredFrame) {
        dispose()
        let place = frame.region.intersection(PixelRect(buffer.size))
        switch frame.disposal {
        case .keep: disposal = nil
        case .clear: disposal = (place, nil)
        case .restore: disposal = (place, covered(by: place))
        }
        guard !place.isEmpty else { return }
        let image = frame.image
        let format = image.format
        let skipped = (place.x - frame.region.x) * 4
        let columns = skipped..<skipped + place.width * 4
        var converted = [UInt8](repeating: 0, count: format == .rgba8 ? 0 : image.size.width * 4)
        for y in 0..<place.height {
            let source = image.row(y + place.y - frame.region.y)
            if format != .rgba8 {
                var pixels = converted.mutableSpan
                source.convert(from: format, to: .rgba8, into: &pixels)
            }
            buffer.withMutableRow(y + place.y) { row in
                if format == .rgba8 {
                    Self.draw(
                        source.extracting(columns), frame.blending, into: &row, at: place.x * 4)
                } else {
                    Self.draw(
                        converted.span.extracting(columns), frame.blending, into: &row,
                        at: place.x * 4)
                }
            }
        }
    }

    /// Draws premultiplied RGBA pixels onto a row.
    private static func draw(
        _ pixels: Span<UInt8>, _ blending: StoredFrame.Blending, into row: inout MutableSpan<UInt8>,
        at start: Int
    ) {
        precondition(start >= 0 && start + pixels.count <= row.count, "the pixels do not fit")
        unsafe pixels.withUnsafeBytes { pixels in
            unsafe row.withUnsafeMutableBytes { row in
                guard let source = pixels.baseAddress,
                    let target = unsafe row.baseAddress?.advanced(by: start)
                else { return }
                guard blending == .over else {
                    unsafe target.copyMemory(from: source, byteCount: pixels.count)
                    return
                }
                for place in stride(from: 0, to: pixels.count, by: 4) {
                    let pixel = unsafe source.loadUnaligned(
                        fromByteOffset: place, as: UInt32.self)
                    let alpha = unsafe source.load(fromByteOffset: place + 3, as: UInt8.self)
                    if alpha == 0 { continue }
                    if alpha == 255 {
                        unsafe target.storeBytes(of: pixel, toByteOffset: place, as: UInt32.self)
                        continue
                    }
                    for channel in place..<place + 4 {
                        let above = unsafe source.load(fromByteOffset: channel, as: UInt8.self)
                        let below = unsafe target.load(fromByteOffset: channel, as: UInt8.self)
                        let rest = PremultipliedAlpha.multiplied(below, by: 255 - alpha)
                        unsafe target.storeBytes(
                            of: above &+ rest, toByteOffset: channel, as: UInt8.self)
                    }
                }
            }
        }
    }

    /// Returns the canvas at the size and the orientation of a plan.
    func image(_ plan: DecodePlan) -> PixelBuffer {
        var resampler = RowResampler(
            from: buffer.size, .rgba8, region: plan.geometry.region, to: plan.geometry.size,
            kernel: plan.kernel, orientation: plan.orientation,
            colorProfile: buffer.colorProfile)
        for y in 0..<buffer.size.height { resampler.append(buffer.row(y)) }
        return resampler.finish()
    }

    private mutating func dispose() {
        guard let (region, covered) = disposal else { return }
        disposal = nil
        let count = region.width * 4
        for y in 0..<region.height {
            buffer.withMutableRow(y + region.y) { row in
                for index in 0..<count {
                    row[region.x * 4 + index] = covered.map { $0[y * count + index] } ?? 0
                }
            }
        }
    }

    private func covered(by region: PixelRect) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(region.width * region.height * 4)
        for y in 0..<region.height {
            let row = buffer.row(y + region.y)
            for index in region.x * 4..<(region.x + region.width) * 4 { bytes.append(row[index]) }
        }
        return bytes
    }
}
