// SPDX-License-Identifier: Apache-2.0

import ImageTesting
import Pixels
import Testing

@Suite("Y\u{2032}CbCr planes") struct YCbCrTests {
    private func plane(_ size: PixelSize, _ scale: Double) -> SourcePlane {
        SourcePlane(size: size, horizontalScale: scale, verticalScale: scale)
    }

    @Test("are contiguous; chroma planes have half of both sides, rounded up")
    func layout() {
        let size = PixelSize(width: 129, height: 3)
        #expect(PixelBuffer.byteCount(of: size, .yCbCr420) == 3 * 192 + 2 * 2 * 128)
        #expect(
            PixelBuffer.byteCount(of: PixelSize(width: 1, height: .max / 64), .yCbCr420) == .max)
        let image = TestImage.make(size, .yCbCr420) { x, y, channel in
            UInt8(x ^ y ^ channel << 6)
        }
        #expect(image.byteCount == 3 * 192 + 2 * 2 * 128)
        for (plane, offset, columns, rows) in [(0, 0, 129, 3), (1, 576, 65, 2), (2, 832, 65, 2)] {
            let layout = image.layout(ofPlane: plane)
            #expect(layout.size == PixelSize(width: columns, height: rows))
            #expect(layout.offset == offset)
            for y in 0..<rows {
                let row = image.row(y, plane: plane)
                #expect(row.count == columns)
                for x in 0..<columns {
                    #expect(row[x] == UInt8(x ^ y ^ plane << 6))
                    #expect(image.bytes[offset + y * layout.bytesPerRow + x] == row[x])
                }
            }
        }
    }

    @Test("become RGB by JFIF's matrix, rounded to the nearest level")
    func matrix() {
        let size = PixelSize(width: 256, height: 18 * 18)
        let planes = Array(repeating: plane(size, 1), count: 3)
        var resampler = YCbCrResampler(
            from: planes, region: SampleRegion(size), to: size, .rgb8)
        let luma = (0...255).map { UInt8($0) }
        for y in 0..<size.height {
            resampler.append(luma.span, plane: 0)
            for (index, value) in [(1, y % 18 * 15), (2, y / 18 * 15)] {
                resampler.append([UInt8](repeating: UInt8(value), count: 256).span, plane: index)
            }
        }
        let result = resampler.finish()
        for y in 0..<size.height {
            let (cb, cr) = (Double(y % 18 * 15) - 128, Double(y / 18 * 15) - 128)
            for x in 0..<256 {
                let exact = [
                    Double(x) + 1.402 * cr,
                    Double(x) - (0.114 * 1.772 * cb + 0.299 * 1.402 * cr) / 0.587,
                    Double(x) + 1.772 * cb,
                ]
                for channel in 0..<3 {
                    let level = min(max(exact[channel], 0), 255)
                    let distance = abs(Double(result.row(y)[x * 3 + channel]) - level)
                    #expect(distance <= 0.5001, "Y \(x), Cb \(cb), Cr \(cr), channel \(channel)")
                }
            }
        }
    }

    @Test("are made of RGB by JFIF's matrix, chroma of the mean of four pixels", arguments: [7, 8])
    func planes(_ width: Int) {
        let size = PixelSize(width: width, height: width - 2)
        let image = TestImage.noise(size, .rgb8)
        let planes = image.converted(to: .yCbCr420)
        #expect(planes.size == size && planes.format == .yCbCr420)
        func color(_ x: Int, _ y: Int) -> SIMD3<Double> {
            let row = image.row(min(y, size.height - 1))
            let first = min(x, size.width - 1) * 3
            return SIMD3(Double(row[first]), Double(row[first + 1]), Double(row[first + 2]))
        }
        func dot(_ color: SIMD3<Double>, _ weights: SIMD3<Double>) -> Double {
            (color * weights).sum()
        }
        let luma = SIMD3(0.299, 0.587, 0.114)
        var largest = 0.0
        for y in 0..<size.height {
            for x in 0..<size.width {
                let level = Double(planes.row(y)[x])
                largest = max(largest, abs(level - dot(color(x, y), luma)))
            }
        }
        let chroma = planes.layout(ofPlane: 1).size
        for y in 0..<chroma.height {
            for x in 0..<chroma.width {
                let four = [(0, 0), (1, 0), (0, 1), (1, 1)].map {
                    color(x * 2 + $0.0, y * 2 + $0.1)
                }
                let mean = four.reduce(SIMD3<Double>(), +) / 4
                let gray = dot(mean, luma)
                for (plane, value) in [(1, (mean.z - gray) / 1.772), (2, (mean.x - gray) / 1.402)] {
                    let level = Double(planes.row(y, plane: plane)[x])
                    largest = max(largest, abs(level - min(max(value + 128, 0), 255)))
                }
            }
        }
        #expect(largest <= 0.51)
        let gray = image.converted(to: .gray8).converted(to: .yCbCr420)
        #expect(Set((0..<chroma.width).map { gray.row(0, plane: 1)[$0] }) == [128])
        // Opaque white and black are the ends of the full range.
        for level in [0, 255] as [UInt8] {
            let flat = TestImage.flat(size, .rgb8, [level, level, level])
            #expect(flat.converted(to: .yCbCr420).row(1)[1] == level)
        }
    }

    /// Resamples gradients: luma and Cb rise along the columns, Cr along the rows.
    private func gradient(
        _ stored: PixelSize, _ factors: [Int], to size: PixelSize, _ format: PixelFormat,
        region: SampleRegion? = nil, orientation: Orientation = .upright, interleaved: Bool = true
    ) -> PixelBuffer {
        let planes = factors.map { plane(stored.shrunk(by: $0), 1 / Double($0)) }
        var resampler = YCbCrResampler(
            from: planes, region: region ?? SampleRegion(stored), to: size, format,
            orientation: orientation)
        var rows: [(y: Double, plane: Int, row: [UInt8])] = []
        for (index, factor) in factors.enumerated() {
            for y in 0..<planes[index].size.height {
                let row = (0..<planes[index].size.width).map { x in
                    let place = (Double(index == 2 ? y : x) + 0.5) * Double(factor)
                    let length = index == 2 ? stored.height : stored.width
                    return UInt8(min(255, (place / Double(length) * 256).rounded(.down)))
                }
                rows.append((Double((y + 1) * factor), index, row))
            }
        }
        if interleaved { rows.sort { ($0.y, $0.plane) < ($1.y, $1.plane) } }
        for row in rows { resampler.append(row.row.span, plane: row.plane) }
        let isComplete = resampler.isComplete
        #expect(isComplete)
        return resampler.finish()
    }

    /// Returns the position in the stored image, from 0 to 1, of a point of the oriented result.
    private func storedPlace(
        _ x: Double, _ y: Double, _ shown: PixelSize, _ orientation: Orientation
    ) -> (x: Double, y: Double) {
        let (u, v) = (x / Double(shown.width), y / Double(shown.height))
        let along = orientation.swapsSides ? (v, u) : (u, v)
        return (
            orientation.reversesColumns ? 1 - along.0 : along.0,
            orientation.reversesRows ? 1 - along.1 : along.1
        )
    }

    @Test(
        "keep the siting of samples for odd sizes and every orientation",
        arguments: Orientation.allCases, [[1, 2, 2], [4, 8, 16]])
    func siting(orientation: Orientation, factors: [Int]) {
        let stored = PixelSize(width: 800, height: 608)
        for size in [PixelSize(width: 41, height: 31), PixelSize(width: 40, height: 32)] {
            let result = gradient(
                stored, factors, to: size, .yCbCr420, orientation: orientation)
            #expect(result.size == orientation.oriented(size))
            for plane in 0..<3 {
                let layout = result.layout(ofPlane: plane)
                let step = plane == 0 ? 1.0 : 2.0
                // The kernel distorts a gradient only near its ends.
                for y in 2..<layout.size.height - 2 {
                    for x in 2..<layout.size.width - 2 {
                        let place = storedPlace(
                            (Double(x) + 0.5) * step, (Double(y) + 0.5) * step, result.size,
                            orientation)
                        let expected = (plane == 2 ? place.y : place.x) * 256 - 0.5
                        let sample = Double(result.row(y, plane: plane)[x])
                        // A shift by half a pixel would be 3 levels.
                        #expect(abs(sample - expected) < 1.5, "plane \(plane), \(x), \(y)")
                    }
                }
            }
        }
    }

    @Test("coarser than the result are enlarged; the order of planes is irrelevant")
    func coarseColours() {
        let stored = PixelSize(width: 320, height: 240)
        let size = PixelSize(width: 121, height: 91)
        let region = SampleRegion(x: 20, y: 10, width: 280, height: 220)
        let joined = gradient(stored, [2, 16, 8], to: size, .rgb8, region: region)
        let onePlaneAfterTheOther = gradient(
            stored, [2, 16, 8], to: size, .rgb8, region: region, interleaved: false)
        #expect(PixelComparison(joined, onePlaneAfterTheOther).maximumDifference == 0)
        for y in 8..<size.height - 8 {
            for x in 8..<size.width - 8 {
                let u = (20 + (Double(x) + 0.5) * 280 / 121) / 320 * 256 - 0.5
                let v = (10 + (Double(y) + 0.5) * 220 / 91) / 240 * 256 - 0.5
                let exact = [
                    u + 1.402 * (v - 128),
                    u - (0.114 * 1.772 * (u - 128) + 0.299 * 1.402 * (v - 128)) / 0.587,
                    u + 1.772 * (u - 128),
                ]
                for channel in 0..<3 {
                    let level = min(max(exact[channel], 0), 255)
                    let sample = Double(joined.row(y)[x * 3 + channel])
                    #expect(abs(sample - level) < 3, "\(x), \(y), \(channel)")
                }
            }
        }
    }

    @Test(
        "give the same image as resampling their RGB", arguments: [PixelFormat.rgb8, .yCbCr420],
        [Orientation.upright, .rotated90])
    func sameAsRGB(format: PixelFormat, orientation: Orientation) {
        let image = TestImage.make(PixelSize(width: 401, height: 299), .yCbCr420) {
            x, y, channel in
            // Within the RGB gamut, so that nothing is clamped.
            channel == 0 ? UInt8(90 + (x ^ y) % 70) : UInt8(118 + (x * channel + y) / 12 % 20)
        }
        let size = PixelSize(width: 133, height: 99)
        var resampler = YCbCrResampler(
            from: (0..<3).map { plane(image.layout(ofPlane: $0).size, $0 == 0 ? 1 : 0.5) },
            region: SampleRegion(image.size), to: size, format, orientation: orientation)
        for index in 0..<3 {
            for y in 0..<image.layout(ofPlane: index).size.height {
                resampler.append(image.row(y, plane: index), plane: index)
            }
        }
        let comparison = PixelComparison(
            resampler.finish().convertedFromYCbCr(),
            image.convertedFromYCbCr().resampled(to: size, orientation: orientation))
        // Chroma has steps, which planes of lower resolution soften.
        #expect(comparison.meanDifference < 1, "\(comparison)")
        #expect(comparison.maximumDifference < 24, "\(comparison)")
    }

    @Test("of the size of the result are copied unchanged")
    func identity() {
        let image = TestImage.noise(PixelSize(width: 31, height: 17), .yCbCr420)
        var resampler = YCbCrResampler(
            from: (0..<3).map {
                plane(image.layout(ofPlane: $0).size, $0 == 0 ? 1 : 0.5)
            }, region: SampleRegion(image.size), to: image.size, .yCbCr420)
        for index in 0..<3 {
            for y in 0..<image.layout(ofPlane: index).size.height {
                resampler.append(image.row(y, plane: index), plane: index)
            }
        }
        #expect(PixelComparison(resampler.finish(), image).maximumDifference == 0)
    }

    @Test("in interleaved order buffer only a few rows")
    func waiting() {
        let stored = PixelSize(width: 64, height: 4_000)
        let sizes = [1, 2, 2].map { stored.shrunk(by: $0) }
        var resampler = YCbCrResampler(
            from: [plane(sizes[0], 1), plane(sizes[1], 0.5), plane(sizes[2], 0.5)],
            region: SampleRegion(stored), to: stored, .rgb8)
        let row = [UInt8](repeating: 128, count: 64)
        for y in 0..<stored.height {
            resampler.append(row.span, plane: 0)
            if y % 16 == 15 {
                for _ in 0..<8 {
                    for index in 1...2 {
                        resampler.append(row.span.extracting(first: 32), plane: index)
                    }
                }
            }
        }
        let isComplete = resampler.isComplete
        #expect(isComplete)
        let waitingByteCount = resampler.waitingByteCount
        #expect(waitingByteCount < 64 * 100)
    }
}
