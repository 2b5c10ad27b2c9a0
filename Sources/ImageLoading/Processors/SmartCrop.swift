// SPDX-License-Identifier: Apache-2.0

public import EncodedImages
#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif
public import Pixels

/// Crops an image to a size, and keeps the part with the most content: edges, varied tones and skin.
///
/// Each part that must be kept, such as a face, counts as much as the whole content of the image.
///
/// The content is measured on a copy of at most ``mapSide`` pixels a side. Of parts with equal content,
/// the most central one is kept. The result is deterministic.
public struct SmartCrop: ImageProcessor, Hashable {
    /// The longer side in pixels of the copy that is measured.
    public static let mapSide = 96

    /// The size of the result in pixels.
    public let size: PixelSize

    /// The parts that are kept if possible, in fractions of the width and height of the image.
    public let parts: [SampleRegion]

    /// Creates the operation.
    ///
    /// - Parameters:
    ///   - size: the size of the result in pixels; a side that is longer than the image's is the image's.
    ///   - parts: the parts that are kept if possible, in fractions of the width and height of the image.
    public init(to size: PixelSize, keeping parts: [SampleRegion] = []) {
        self.size = size
        self.parts = parts
    }

    public var identity: String {
        parts.reduce("smart(\(size)") { $0 + ",\($1.x)x\($1.y)x\($1.width)x\($1.height)" } + ")"
    }

    public var acceptsYCbCr: Bool { true }

    public func process(
        _ image: PixelBuffer, _ cancellation: CancellationFlag
    ) throws(CodecError) -> PixelBuffer {
        guard !cancellation.isCancelled else { throw .cancelled }
        let part = part(of: image)
        return part == PixelRect(image.size) ? image : image.cut(part)
    }

    /// Returns the part of an image that is kept; it starts at a sample of each plane.
    public func part(of image: PixelBuffer) -> PixelRect {
        let kept = PixelSize(
            width: min(max(size.width, 1), image.size.width),
            height: min(max(size.height, 1), image.size.height))
        guard kept != image.size else { return PixelRect(image.size) }
        let map = ContentMap(image, side: Self.mapSide, keeping: parts)
        let (x, y) = map.position(
            ofWidth: Double(kept.width) / Double(image.size.width),
            height: Double(kept.height) / Double(image.size.height))
        let coarsest = image.format.plane(image.format.planeCount - 1)
        func start(_ share: Double, _ free: Int, _ step: Int) -> Int {
            Int((Double(free) * share).rounded()) / step * step
        }
        return PixelRect(
            x: start(x, image.size.width - kept.width, coarsest.horizontalSubsampling),
            y: start(y, image.size.height - kept.height, coarsest.verticalSubsampling),
            width: kept.width, height: kept.height)
    }
}

/// The amount of content at each pixel of a small copy of an image.
struct ContentMap {
    /// The side in pixels of the blocks whose entropy is measured.
    private static let blockSide = 8

    private let size: PixelSize
    /// The content of all pixels above and to the left, with a row and a column of zeros first.
    private var sums: [Float]

    /// - Parameters:
    ///   - image: the image.
    ///   - side: the longer side in pixels of the copy.
    ///   - parts: the parts with additional content, in fractions of the width and height.
    init(_ image: PixelBuffer, side: Int, keeping parts: [SampleRegion]) {
        let geometry = ResizeGeometry(
            of: image.size, into: PixelSize(width: side, height: side), mode: .fit)
        let source =
            image.format.planeCount == 1
            ? image.converted(to: image.format.withIntegerSamples) : image
        let copy = source.resized(geometry.region, to: geometry.size, kernel: .triangle)
            .converted(to: .rgb8)
        size = copy.size
        let (width, height) = (size.width, size.height)
        var luma = [Float](repeating: 0, count: width * height)
        var content = luma
        for y in 0..<height {
            let row = copy.row(y)
            for x in 0..<width {
                let pixel = SIMD3(
                    Float(row[x * 3]), Float(row[x * 3 + 1]), Float(row[x * 3 + 2]))
                luma[y * width + x] = (pixel * SIMD3(0.299, 0.587, 0.114)).sum()
                content[y * width + x] = Self.skin(pixel)
            }
        }
        Self.addEdges(of: luma, width, to: &content)
        Self.addEntropy(of: luma, width, to: &content)
        let total = content.reduce(0, +) + 1
        for part in parts { Self.add(part, total, size, to: &content) }
        sums = [Float](repeating: 0, count: (width + 1) * (height + 1))
        for y in 0..<height {
            var sum: Float = 0
            for x in 0..<width {
                sum += content[y * width + x]
                sums[(y + 1) * (width + 1) + x + 1] = sums[y * (width + 1) + x + 1] + sum
            }
        }
    }

    /// Returns the position of the part with the most content, as fractions of the free space.
    ///
    /// - Parameters:
    ///   - width: the width of the part as a fraction of the image's.
    ///   - height: the height of the part as a fraction of the image's.
    /// - Returns: 0 for the left or top, 1 for the right or bottom.
    func position(ofWidth width: Double, height: Double) -> (x: Double, y: Double) {
        let part = PixelSize(
            width: min(max(1, Int((width * Double(size.width)).rounded())), size.width),
            height: min(max(1, Int((height * Double(size.height)).rounded())), size.height))
        let free = (x: size.width - part.width, y: size.height - part.height)
        func share(_ start: Int, _ free: Int) -> Double {
            free > 0 ? Double(start) / Double(free) : 0.5
        }
        var best = (x: 0.5, y: 0.5, value: -Double.infinity)
        for top in 0...free.y {
            for left in 0...free.x {
                let (x, y) = (share(left, free.x), share(top, free.y))
                // Up to a tenth less in a corner.
                let distance = (x - 0.5) * (x - 0.5) + (y - 0.5) * (y - 0.5)
                let content = max(0, Double(sum(left, top, part)))
                let value = content * (1 - 0.2 * distance) - distance * 1e-3
                if value > best.value { best = (x, y, value) }
            }
        }
        return (best.x, best.y)
    }

    private func sum(_ x: Int, _ y: Int, _ part: PixelSize) -> Float {
        let stride = size.width + 1
        let (top, bottom) = (y * stride, (y + part.height) * stride)
        return sums[bottom + x + part.width] - sums[bottom + x] - sums[top + x + part.width]
            + sums[top + x]
    }

    /// Returns 0 to 1: how near the hue of a pixel is to that of skin of any tone.
    private static func skin(_ pixel: SIMD3<Float>) -> Float {
        let length = (pixel * pixel).sum().squareRoot()
        guard length > 60 else { return 0 }
        let difference = pixel / length - SIMD3(0.78, 0.50, 0.37)
        return max(0, 1 - (difference * difference).sum().squareRoot() / 0.16)
    }

    /// Adds an amount of content to a part with a margin, evenly.
    private static func add(
        _ part: SampleRegion, _ amount: Float, _ size: PixelSize, to content: inout [Float]
    ) {
        // A face without its hair and chin looks cut off.
        let margin = 0.25
        func range(_ start: Double, _ length: Double, _ side: Int) -> Range<Int> {
            let first = (start - length * margin) * Double(side)
            let end = (start + length * (1 + margin)) * Double(side)
            let lower = Int(min(max(first, 0), Double(side - 1)))
            return lower..<max(lower + 1, Int(min(max(end, 0), Double(side)).rounded(.up)))
        }
        let columns = range(part.x, part.width, size.width)
        let rows = range(part.y, part.height, size.height)
        let value = amount / Float(columns.count * rows.count)
        for y in rows { for x in columns { content[y * size.width + x] += value } }
    }

    /// Adds the strength of edges, 0 to 1.
    private static func addEdges(of luma: [Float], _ width: Int, to content: inout [Float]) {
        let height = luma.count / width
        guard width > 2, height > 2 else { return }
        for y in 1..<height - 1 {
            for x in 1..<width - 1 {
                let i = y * width + x
                let sides = luma[i - 1] + luma[i + 1] + luma[i - width] + luma[i + width]
                content[i] += min(1, abs(4 * luma[i] - sides) / 128)
            }
        }
    }

    /// Adds the entropy of the block around each pixel, 0 to 0.5.
    private static func addEntropy(of luma: [Float], _ width: Int, to content: inout [Float]) {
        let height = luma.count / width
        for top in stride(from: 0, to: height, by: blockSide) {
            for left in stride(from: 0, to: width, by: blockSide) {
                let rows = top..<min(top + blockSide, height)
                let columns = left..<min(left + blockSide, width)
                var counts = [Int](repeating: 0, count: 16)
                for y in rows { for x in columns { counts[Int(luma[y * width + x]) >> 4] += 1 } }
                let entropy = entropy(counts) / 8
                for y in rows { for x in columns { content[y * width + x] += entropy } }
            }
        }
    }

    /// Returns the entropy of a histogram of 16 bins: 0 to 4 bits.
    private static func entropy(_ counts: [Int]) -> Float {
        let total = Float(counts.reduce(0, +))
        return counts.reduce(0) { sum, count in
            guard count > 0 else { return sum }
            let share = Float(count) / total
            return sum - share * log2(share)
        }
    }
}
