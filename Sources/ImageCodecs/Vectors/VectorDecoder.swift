// SPDX-License-Identifier: Apache-2.0

#if SVG || PDF
internal import EncodedImages
internal import Pixels

/// A parsed document that a C library draws at any size.
protocol VectorDocument: ~Copyable {
    /// The name of the library.
    static var library: String { get }

    /// Parses a document.
    init(_ bytes: Span<UInt8>) throws(CodecError)

    /// The natural size.
    var size: PixelSize { get }

    /// Draws the document stretched to a size.
    ///
    /// - Returns: premultiplied pixels: alpha in the highest byte, then red, green and blue.
    func render(_ size: PixelSize) throws(CodecError) -> [UInt32]
}

/// Draws a document at the size of the result, so that no resampling is needed.
struct VectorDecoder<Document: VectorDocument & ~Copyable>: ImageDecoder {
    func header(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> ImageHeader {
        let document = try Document(bytes)
        var header = ImageHeader(
            storedSize: document.size, colorModel: .rgb, bitsPerComponent: 8)
        header.hasAlpha = true
        header.isScalable = true
        return header
    }

    func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
        // Drawn for one size; other results cannot share the rows.
        let plan = try rows.choose { $0 }
        let (region, wanted) = (plan.geometry.region, plan.geometry.size)
        let size = PixelSize(
            width: side(plan.storedSize.width, wanted.width, region.width),
            height: side(plan.storedSize.height, wanted.height, region.height))
        try rows.limits.check(size)
        try rows.workLimits.check(.memoryByteCount, size.area * 4)
        let document = try Document(bytes)
        rows.report.decoder = Document.library
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
    private func side(_ stored: Int, _ wanted: Int, _ kept: Double) -> Int {
        max(1, Int(min(Double(stored) * Double(wanted) / kept, 1e9).rounded()))
    }
}
#endif
