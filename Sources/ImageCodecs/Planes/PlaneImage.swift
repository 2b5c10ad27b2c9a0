// SPDX-License-Identifier: Apache-2.0

#if AVIF || HEIF
internal import EncodedImages
internal import Pixels

/// An image as a video decoder returns it: planes of luma, two colour differences, and alpha.
struct PlaneImage {
    let coding: PlaneCoding
    /// Y, or Y, Cb and Cr.
    let planes: [SamplePlane]
    let alpha: SamplePlane?
    /// The part of the planes that contains the image, in luma samples.
    let region: PixelRect

    /// The pixel format of interleaved rows.
    var format: PixelFormat {
        let isWide = coding.bitDepth > 8
        if alpha != nil { return isWide ? .rgba16 : .rgba8 }
        if coding.chroma == .none { return isWide ? .gray16 : .gray8 }
        return isWide ? .rgb16 : .rgb8
    }

    /// - Throws: ``CodecError`` if the planes do not fit together.
    init(
        _ coding: PlaneCoding, _ planes: [SamplePlane?], alpha: SamplePlane?, region: PixelRect
    ) throws(CodecError) {
        try coding.check()
        let planes = planes.compactMap { $0 }
        guard planes.count == (coding.chroma == .none ? 1 : 3) else {
            throw .library(
                message: "decoder returned \(planes.count) planes for chroma \(coding.chroma)")
        }
        let luma = planes[0]
        let horizontal = [.half, .halfWidth].contains(coding.chroma) ? 2 : 1
        let vertical = coding.chroma == .half ? 2 : 1
        let isWhole =
            planes.dropFirst().allSatisfy {
                $0.width >= (luma.width + horizontal - 1) / horizontal
                    && $0.height >= (luma.height + vertical - 1) / vertical
            } && alpha.map { $0.width >= luma.width && $0.height >= luma.height } ?? true
        guard isWhole, region.width > 0, region.height > 0,
            region.x >= 0, region.y >= 0, region.x + region.width <= luma.width,
            region.y + region.height <= luma.height
        else {
            throw .malformed(
                reason: "planes are too small for \(region.width)x\(region.height) pixels",
                offset: 0)
        }
        self.coding = coding
        self.planes = planes
        self.alpha = alpha
        self.region = region
    }

    /// Passes the image to `rows`: as planes if they are JFIF's, otherwise interleaved.
    func append(to rows: inout RowSink, _ profile: ColorProfile) throws(CodecError) {
        if coding.bitDepth == 8, alpha == nil, coding.isJFIF, region.x % 2 == 0,
            region.y % 2 == 0
        {
            return try appendPlanes(to: &rows, profile)
        }
        let format = format
        try rows.begin(region.size, format, profile)
        var joiner = PlaneJoiner(self)
        for y in 0..<region.height {
            joiner.makeRow(y)
            let row = joiner.row
            try rows.append(row.span)
        }
    }

    /// Returns the image, interleaved.
    func image(_ profile: ColorProfile) -> PixelBuffer {
        var result = MutablePixelBuffer(
            size: region.size, format: format, colorProfile: profile)
        var joiner = PlaneJoiner(self)
        for y in 0..<region.height {
            joiner.makeRow(y)
            let row = joiner.row
            result.withMutableRow(y) { pixels in
                for index in row.indices { pixels[index] = row[index] }
            }
        }
        return result.finish()
    }

    private func appendPlanes(
        to rows: inout RowSink, _ profile: ColorProfile
    ) throws(CodecError) {
        let horizontal = coding.chroma == .full ? 1 : 2
        let vertical = coding.chroma == .half ? 2 : 1
        let chroma = SourcePlane(
            size: PixelSize(
                width: (region.width + horizontal - 1) / horizontal,
                height: (region.height + vertical - 1) / vertical),
            horizontalScale: 1 / Double(horizontal), verticalScale: 1 / Double(vertical))
        let luma = SourcePlane(size: region.size, horizontalScale: 1, verticalScale: 1)
        try rows.beginYCbCr([luma, chroma, chroma], profile)
        var samples = [UInt8](repeating: 0, count: region.width)
        for y in 0..<region.height {
            for plane in [1, 2, 0] {
                if plane > 0, y % vertical != 0 { continue }
                let step = plane == 0 ? (1, 1) : (horizontal, vertical)
                let start = region.x / step.0
                let width = plane == 0 ? region.width : chroma.size.width
                let line = (region.y + y) / step.1
                try planes[plane].withRow(line) { row throws(CodecError) in
                    let part = row.extracting(start..<start + width)
                    if coding.isFullRange {
                        try rows.append(part, plane: plane)
                    } else {
                        VideoRange.widen(part, isColor: plane > 0, into: &samples)
                        try rows.append(samples.span.extracting(first: width), plane: plane)
                    }
                }
            }
        }
    }
}
#endif
