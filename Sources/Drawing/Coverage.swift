// SPDX-License-Identifier: Apache-2.0

#if Drawing
internal import CDrawing
#endif
internal import Pixels

/// How much of each pixel of a rectangle a shape covers, from 0 to 255.
struct Coverage: Sendable {
    let bounds: PixelRect
    let stride: Int
    private(set) var bytes: [UInt8]

    /// A coverage of 0.
    init(_ bounds: PixelRect) {
        self.bounds = bounds
        // cairo requires rows of whole 32-bit words.
        stride = (bounds.width + 3) / 4 * 4
        bytes = [UInt8](repeating: 0, count: stride * bounds.height)
    }

    /// The alpha channel of an image of the size of `bounds`.
    ///
    /// - Parameters:
    ///   - image: an image with one byte of alpha at the end of each pixel.
    ///   - bounds: where the image lies.
    init(alphaOf image: PixelBuffer, _ bounds: PixelRect) {
        self.init(bounds)
        let count = image.format.bytesPerPixel
        for y in 0..<bounds.height {
            let row = image.row(y)
            for x in 0..<bounds.width { bytes[y * stride + x] = row[x * count + count - 1] }
        }
    }

    /// Multiplies a part of a row of pixels, which starts at the column `left`, by the coverage.
    func multiply(_ row: inout [SIMD4<Float>], count: Int, left: Int, y: Int) {
        let start = (y - bounds.y) * stride + left - bounds.x
        precondition(
            y >= bounds.y && y < bounds.y + bounds.height && left >= bounds.x
                && left + count <= bounds.x + bounds.width && count <= row.count,
            "the row leaves the coverage")
        let span = bytes.span
        var pixels = row.mutableSpan
        for x in 0..<count {
            let value = span[start + x]
            if value == 255 { continue }
            pixels[x] *= Float(value) * (1 / 255)
        }
    }

    #if Drawing
    var area: calotype_area {
        calotype_area(
            x: Int32(bounds.x), y: Int32(bounds.y), width: Int32(bounds.width),
            height: Int32(bounds.height), stride: Int32(stride))
    }

    /// Calls `body` with the memory of the coverage.
    mutating func withBytes<Result>(_ body: (UnsafeMutablePointer<UInt8>?) -> Result) -> Result {
        unsafe bytes.withUnsafeMutableBufferPointer { unsafe body($0.baseAddress) }
    }
    #endif
}

/// An area that limits what is drawn: the inside of a path, or a line along it.
struct Shape: Hashable, Sendable {
    /// In the coordinates of the caller.
    let path: Path
    /// From the coordinates of the caller to pixels.
    let transform: Transform
    let rule: FillRule
    let stroke: Stroke?

    /// The rectangle and its radius in pixels if the shape is a filled rectangle.
    var roundedRect: Path.RoundedRect? {
        stroke == nil ? path.applying(transform).roundedRect : nil
    }

    /// A rectangle of whole pixels that contains the shape.
    var bounds: PixelRect {
        transform.bounds(of: path.bounds.outset(by: stroke?.reach ?? 0)).outerPixels
    }

    /// Computes the coverage of a part of the pixels.
    func coverage(_ bounds: PixelRect) throws(DrawingError) -> Coverage {
        #if Drawing
        try requireDrawing()
        var result = Coverage(bounds)
        let verbs = path.verbs.map(\.rawValue)
        let coordinates = path.points.flatMap { [$0.x, $0.y] }
        let dashes = stroke?.validDashes ?? []
        let problem = unsafe verbs.withUnsafeBufferPointer { verbs in
            unsafe coordinates.withUnsafeBufferPointer { coordinates in
                unsafe dashes.withUnsafeBufferPointer { dashes in
                    var path = unsafe calotype_path()
                    unsafe path.verbs = verbs.baseAddress
                    unsafe path.verb_count = verbs.count
                    unsafe path.coordinates = coordinates.baseAddress
                    unsafe path.matrix = transform.values
                    unsafe path.is_even_odd = rule == .evenOdd
                    if let stroke {
                        unsafe path.is_stroke = true
                        unsafe path.width = stroke.width
                        unsafe path.miter_limit = stroke.miterLimit
                        unsafe path.cap = stroke.cap.rawValue
                        unsafe path.join = stroke.join.rawValue
                        unsafe path.dashes = dashes.baseAddress
                        unsafe path.dash_count = dashes.count
                        unsafe path.dash_phase = stroke.dashPhase
                    }
                    let area = result.area
                    return unsafe result.withBytes {
                        unsafe calotype_path_draw(&path, area, $0)
                    }
                }
            }
        }
        try unsafe check(problem)
        return result
        #else
        throw .unavailable(reason: "built without the trait Drawing")
        #endif
    }
}

#if Drawing
extension Transform {
    /// The values in the order of cairo.
    var values: (Double, Double, Double, Double, Double, Double) { (a, b, c, d, x, y) }
}

extension Stroke {
    /// The dashes; none if cairo would reject them.
    fileprivate var validDashes: [Double] {
        dashes.allSatisfy { $0 >= 0 && $0.isFinite } && dashes.contains { $0 > 0 } ? dashes : []
    }
}

/// Loads the libraries.
func requireDrawing() throws(DrawingError) {
    guard let problem = unsafe calotype_drawing_missing() else { return }
    throw .unavailable(reason: unsafe String(cString: problem))
}

/// Throws the error of a call of the shim.
func check(_ problem: UnsafePointer<CChar>?) throws(DrawingError) {
    guard let problem = unsafe problem else { return }
    throw .library(message: unsafe String(cString: problem))
}
#endif
