// SPDX-License-Identifier: Apache-2.0

#if SVG
internal import CSVG
internal import EncodedImages
internal import Pixels

/// The sole owner of a parsed document.
@safe struct SVGDocument: ~Copyable, VectorDocument {
    static let library = "librsvg"

    private let raw: OpaquePointer

    /// A sandboxed process cannot open files later, so all fonts are loaded beforehand.
    private static let preparation: Void = calotype_svg_prepare()

    init(_ bytes: Span<UInt8>) throws(CodecError) {
        try unsafe requireLibrary(calotype_svg_missing())
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
