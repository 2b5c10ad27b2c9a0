// SPDX-License-Identifier: Apache-2.0

#if AVIF || HEIF
internal import Pixels

/// Interleaves planes to rows of grey, RGB or premultiplied RGBA, in the full range of 8 or 16
/// bits.
///
/// Colour differences at half resolution are interpolated linearly; each sample is centred
/// between its pixels. Arithmetic is fixed-point with 12 or 16 fractional bits.
struct PlaneJoiner: ~Copyable {
    /// The row produced last.
    private(set) var row: [UInt8]
    private let image: PlaneImage
    private let weights: JoinWeights
    private var luma: [UInt16]
    private var alpha: [UInt16]
    private var first: DifferenceRow
    private var second: DifferenceRow

    init(_ image: PlaneImage) {
        self.image = image
        weights = JoinWeights(image.coding, isWide: image.coding.bitDepth > 8)
        let width = (image.planes.map(\.width) + [image.alpha?.width ?? 0]).max() ?? 0
        row = Array(repeating: 0, count: image.region.width * image.format.bytesPerPixel)
        luma = Array(repeating: 0, count: width)
        alpha = luma
        first = DifferenceRow(width: width)
        second = first
    }

    /// Produces row `y` of the image.
    mutating func makeRow(_ y: Int) {
        let y = image.region.y + y
        image.planes[0].load(y, into: &luma)
        image.alpha?.load(y, into: &alpha)
        if image.coding.chroma != .none {
            first.load(image.planes[1], y, image.coding)
            second.load(image.planes[2], y, image.coding)
        }
        switch image.format {
        case .gray8: makeGray(UInt8.self)
        case .gray16: makeGray(UInt16.self)
        case .rgb8, .rgba8: makeColor(UInt8.self)
        default: makeColor(UInt16.self)
        }
    }

    private mutating func makeGray<Sample: FixedWidthInteger & UnsignedInteger>(
        _ type: Sample.Type
    ) {
        let weights = weights
        let start = image.region.x
        let width = image.region.width
        let lumaRow = luma
        let luma = lumaRow.span
        unsafe row.withUnsafeMutableBytes { row in
            let row = unsafe row.assumingMemoryBound(to: Sample.self)
            for x in 0..<width {
                let light = unsafe weights.light(luma[unchecked: start &+ x])
                unsafe row[x] = weights.sample(light)
            }
        }
    }

    private mutating func makeColor<Sample: FixedWidthInteger & UnsignedInteger>(
        _ type: Sample.Type
    ) {
        let w = weights
        let start = image.region.x
        let width = image.region.width
        let hasAlpha = image.alpha != nil
        let isGray = image.coding.chroma == .none
        let isIdentity = image.coding.isIdentity
        let step = hasAlpha ? 4 : 3
        let (lumaRow, firstRow, secondRow) = (luma, first.values, second.values)
        let (luma, first, second) = (lumaRow.span, firstRow.span, secondRow.span)
        unsafe row.withUnsafeMutableBytes { row in
            let row = unsafe row.assumingMemoryBound(to: Sample.self)
            for x in 0..<width {
                let y = unsafe w.light(luma[unchecked: start &+ x])
                var (red, green, blue) = (y, y, y)
                if isIdentity && !isGray {
                    blue = unsafe w.light(first[unchecked: start &+ x] &>> 4)
                    red = unsafe w.light(second[unchecked: start &+ x] &>> 4)
                } else if !isGray {
                    let u = unsafe first[unchecked: start &+ x]
                    let v = unsafe second[unchecked: start &+ x]
                    red = y &+ w.red.0 &* u &+ w.red.1 &* v
                    green = y &+ w.green.0 &* u &+ w.green.1 &* v
                    blue = y &+ w.blue.0 &* u &+ w.blue.1 &* v
                }
                let place = x &* step
                unsafe row[place] = w.sample(red)
                unsafe row[place &+ 1] = w.sample(green)
                unsafe row[place &+ 2] = w.sample(blue)
            }
        }
        if hasAlpha { multiply(type) }
    }

    /// Stores alpha, and premultiplies the colours if they are straight.
    private mutating func multiply<Sample: FixedWidthInteger & UnsignedInteger>(
        _ type: Sample.Type
    ) {
        let start = image.region.x
        let width = image.region.width
        let isMultiplied = image.coding.isPremultiplied
        let stored = (UInt32(1) << UInt32(image.coding.alphaBitDepth)) - 1
        let full = UInt32(truncatingIfNeeded: Sample.max)
        let alphaRow = alpha
        let alpha = alphaRow.span
        unsafe row.withUnsafeMutableBytes { row in
            let row = unsafe row.assumingMemoryBound(to: Sample.self)
            for x in 0..<width {
                var a = unsafe min(UInt32(alpha[unchecked: start &+ x]), stored)
                if stored != full { a = (a &* full &+ stored / 2) / stored }
                let place = x &* 4
                unsafe row[place &+ 3] = Sample(truncatingIfNeeded: a)
                if a == full { continue }
                for index in place..<place &+ 3 {
                    let color = unsafe UInt32(row[index])
                    let product = (color &* a &+ full / 2) / full
                    unsafe row[index] = Sample(
                        truncatingIfNeeded: isMultiplied ? min(color, a) : product)
                }
            }
        }
    }
}

/// A colour difference of each pixel of a row.
private struct DifferenceRow {
    /// In units of 1/16.
    private(set) var values: [Int32]
    private var near: [UInt16]
    private var far: [UInt16]

    init(width: Int) {
        values = Array(repeating: 0, count: width * 2 + 2)
        near = Array(repeating: 0, count: width)
        far = near
    }

    /// Loads row `y` of the image from its plane.
    mutating func load(_ plane: SamplePlane, _ y: Int, _ coding: PlaneCoding) {
        let width = plane.width
        let isHalfHigh = coding.chroma == .half
        plane.load(isHalfHigh ? y / 2 : y, into: &near)
        if isHalfHigh { plane.load(y % 2 == 0 ? y / 2 - 1 : y / 2 + 1, into: &far) }
        let middle = Int32(1) << Int32(coding.bitDepth - 1)
        let zero = coding.isIdentity ? 0 : middle * 16
        // Constants, since a span of a property would exclude changes of `values`.
        let (nearRow, farRow) = (near, isHalfHigh ? far : near)
        let (near, far) = (nearRow.span, farRow.span)
        var result = values.mutableSpan
        if coding.chroma == .full {
            for x in 0..<width {
                unsafe result[unchecked: x] = Int32(near[unchecked: x]) &* 16 &- zero
            }
            return
        }
        var left = Int32(near[0]) &* 3 &+ Int32(far[0])
        var here = left
        for x in 0..<width {
            let next = min(x &+ 1, width &- 1)
            let right = unsafe Int32(near[unchecked: next]) &* 3 &+ Int32(far[unchecked: next])
            unsafe result[unchecked: x &* 2] = here &* 3 &+ left &- zero
            unsafe result[unchecked: x &* 2 &+ 1] = here &* 3 &+ right &- zero
            left = here
            here = right
        }
    }
}

/// The fixed-point factors that convert samples to RGB.
private struct JoinWeights {
    private let shift: Int32
    private let half: Int32
    private let black: Int32
    private let step: Int32
    private let most: Int32
    /// The factors for 1/16 of each colour difference.
    var red: (Int32, Int32)
    var green: (Int32, Int32)
    var blue: (Int32, Int32)

    init(_ coding: PlaneCoding, isWide: Bool) {
        shift = isWide ? 12 : 16
        half = 1 << (shift - 1)
        most = isWide ? 65535 : 255
        let unit = Double(most) * Double(Int32(1) << shift)
        let scale = Double(1 << (coding.bitDepth - 8))
        let full = Double((1 << coding.bitDepth) - 1)
        black = coding.isFullRange ? 0 : Int32(16 * scale)
        step = Int32((unit / (coding.isFullRange ? full : 219 * scale)).rounded())
        let range = (coding.isFullRange ? full : 224 * scale) * 16
        let shares = (coding.weights ?? []).map {
            (
                Int32(($0.first * unit / range).rounded()),
                Int32(($0.second * unit / range).rounded())
            )
        }
        red = shares.first ?? (0, 0)
        green = shares.dropFirst().first ?? (0, 0)
        blue = shares.last ?? (0, 0)
    }

    @inline(__always)
    func light(_ luma: UInt16) -> Int32 { light(Int32(luma)) }

    @inline(__always)
    func light(_ luma: Int32) -> Int32 { (luma &- black) &* step &+ half }

    @inline(__always)
    func sample<Sample: FixedWidthInteger>(_ light: Int32) -> Sample {
        Sample(truncatingIfNeeded: min(max(light &>> shift, 0), most))
    }
}
#endif
