// SPDX-License-Identifier: Apache-2.0

internal import Pixels

/// What an animation has drawn so far: premultiplied RGBA, transparent at first.
struct FrameCanvas: ~Copyable {
    private var buffer: MutablePixelBuffer
    /// What to do with the frame that was drawn last before the next one is.
    private var disposal: (region: PixelRect, covered: [UInt8]?)?

    init(_ size: PixelSize, _ colorProfile: ColorProfile) {
        buffer = MutablePixelBuffer(size: size, format: .rgba8, colorProfile: colorProfile)
    }

    /// Takes the last frame away as it asked for, then draws the next one.
    mutating func draw(_ frame: StoredFrame) {
        dispose()
        let place = frame.region.intersection(PixelRect(buffer.size))
        switch frame.disposal {
        case .keep: disposal = nil
        case .clear: disposal = (place, nil)
        case .restore: disposal = (place, covered(by: place))
        }
        let image = frame.image
        let format = image.format
        var source = [UInt8](repeating: 0, count: image.size.width * 4)
        for y in 0..<place.height {
            var pixels = source.mutableSpan
            image.row(y + place.y - frame.region.y)
                .convert(from: format, to: .rgba8, into: &pixels)
            let skipped = (place.x - frame.region.x) * 4
            buffer.withMutableRow(y + place.y) { row in
                let start = place.x * 4
                for index in stride(from: 0, to: place.width * 4, by: 4) {
                    let alpha = pixels[skipped + index + 3]
                    if frame.blending == .over && alpha == 0 { continue }
                    let rest = frame.blending == .over ? 255 - alpha : 0
                    for channel in index..<index + 4 {
                        let below =
                            rest == 0
                            ? 0 : PremultipliedAlpha.multiplied(row[start + channel], by: rest)
                        row[start + channel] = pixels[skipped + channel] &+ below
                    }
                }
            }
        }
    }

    /// The canvas at the size that was asked for, turned upright.
    func picture(_ plan: DecodePlan) -> PixelBuffer {
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
