// SPDX-License-Identifier: Apache-2.0

#if SVG
internal import CSVG
internal import EncodedImages
internal import Pixels

/// Renders a document at the size of the result, so that no resampling is needed.
struct SVGDecoder: ImageDecoder {
    func header(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> ImageHeader {
        let document = try SVGDocument(bytes)
        var header = ImageHeader(
            storedSize: document.size, colorModel: .rgb, bitsPerComponent: 8)
        header.hasAlpha = true
        header.isScalable = true
        return header
    }

    func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
        // Rendered for one size; other results cannot share the rows.
        let plan = try rows.choose { $0 }
        let (region, wanted) = (plan.geometry.region, plan.geometry.size)
        let size = PixelSize(
            width: Self.side(plan.storedSize.width, wanted.width, region.width),
            height: Self.side(plan.storedSize.height, wanted.height, region.height))
        try rows.limits.check(size)
        try rows.workLimits.check(.memoryByteCount, size.area * 4)
        let document = try SVGDocument(bytes)
        rows.report.decoder = "librsvg"
        try rows.begin(size, .rgba8, .sRGB)
        let pixels = try document.render(size)
        var row = [UInt8](repeating: 0, count: size.width * 4)
        for y in 0..<size.height {
            for x in 0..<size.width {
                let pixel = pixels[y * size.width + x]
                row[x * 4] = UInt8(truncatingIfNeeded: pixel >> 16)
                row[x * 4 + 1] = UInt8(truncatingIfNeeded: pixel >> 8)
                row[x * 4 + 2] = UInt8(truncatingIfNeeded: pixel)
                row[x * 4 + 3] = UInt8(truncatingIfNeeded: pixel >> 24)
            }
            try rows.append(row.span)
        }
    }

    /// Returns the side of the whole document when a part of it becomes `wanted` pixels.
    private static func side(_ stored: Int, _ wanted: Int, _ kept: Double) -> Int {
        max(1, Int(min(Double(stored) * Double(wanted) / kept, 1e9).rounded()))
    }
}

/// The sole owner of a parsed document.
@safe private struct SVGDocument: ~Copyable {
    private let raw: OpaquePointer

    /// A sandboxed process cannot open files later, so all fonts are loaded beforehand.
    private static let preparation: Void = calotype_svg_prepare()

    init(_ bytes: Span<UInt8>) throws(CodecError) {
        Self.preparation
        let raw = unsafe bytes.withUnsafeBufferPointer {
            unsafe calotype_svg_create($0.baseAddress, $0.count)
        }
        guard let raw = unsafe raw else {
            throw .library(message: "out of memory: cannot create an SVG document")
        }
        if let message = unsafe Self.message(raw) {
            unsafe calotype_svg_destroy(raw)
            throw .malformed(reason: message, offset: 0)
        }
        unsafe self.raw = raw
    }

    deinit { unsafe calotype_svg_destroy(raw) }

    var size: PixelSize {
        var (width, height) = (0.0, 0.0)
        guard unsafe calotype_svg_size(raw, &width, &height), width > 0, height > 0 else {
            return PixelSize(width: 512, height: 512)
        }
        return PixelSize(
            width: Int(min(width, 1e9).rounded(.up)),
            height: Int(min(height, 1e9).rounded(.up)))
    }

    /// Returns premultiplied pixels: alpha in the highest byte, then red, green and blue.
    func render(_ size: PixelSize) throws(CodecError) -> [UInt32] {
        var pixels = [UInt32](repeating: 0, count: size.area)
        let isRendered = unsafe pixels.withUnsafeMutableBufferPointer {
            unsafe calotype_svg_draw(
                raw, $0.baseAddress, Int32(size.width), Int32(size.height))
        }
        guard isRendered else {
            throw .library(
                message: unsafe Self.message(raw) ?? "librsvg did not render the document")
        }
        return pixels
    }

    @unsafe private static func message(_ raw: OpaquePointer) -> String? {
        unsafe calotype_svg_message(raw).map { unsafe String(cString: $0) }
    }
}
#endif
