// SPDX-License-Identifier: Apache-2.0

#if PDF
internal import CPDF
internal import EncodedImages
internal import Pixels

/// The sole owner of the first page of a parsed file.
@safe struct PDFDocument: ~Copyable, VectorDocument {
    static let library = "poppler"

    private let raw: OpaquePointer

    init(_ bytes: Span<UInt8>) throws(CodecError) {
        try unsafe requireLibrary(calotype_pdf_missing())
        guard let raw = unsafe calotype_pdf_create() else {
            throw .library(message: "out of memory: cannot create a PDF document")
        }
        do throws(CodecError) {
            let status = unsafe bytes.withUnsafeBufferPointer {
                unsafe calotype_pdf_open(raw, $0.baseAddress, $0.count)
            }
            try unsafe Self.check(status, raw)
            guard unsafe !Self.size(raw).isEmpty else {
                throw .malformed(reason: "PDF page with an empty crop box", offset: 0)
            }
        } catch {
            unsafe calotype_pdf_destroy(raw)
            throw error
        }
        unsafe self.raw = raw
    }

    deinit { unsafe calotype_pdf_destroy(raw) }

    /// The crop box at 72 pixels per inch.
    var size: PixelSize { unsafe Self.size(raw) }

    @unsafe private static func size(_ raw: OpaquePointer) -> PixelSize {
        var (width, height) = (0.0, 0.0)
        unsafe calotype_pdf_size(raw, &width, &height)
        return PixelSize(width: pixels(width), height: pixels(height))
    }

    /// Returns whole pixels; a hundredth more is an inaccurate number of the file.
    private static func pixels(_ points: Double) -> Int {
        points > 0 ? max(1, Int((min(points, 1e9) - 0.01).rounded(.up))) : 0
    }

    func render(_ size: PixelSize) throws(CodecError) -> [UInt32] {
        var pixels = [UInt32](repeating: 0, count: size.area)
        let status = unsafe pixels.withUnsafeMutableBufferPointer {
            unsafe calotype_pdf_draw(
                raw, $0.baseAddress, Int32(size.width), Int32(size.height))
        }
        try unsafe Self.check(status, raw)
        return pixels
    }

    @unsafe private static func check(
        _ status: calotype_pdf_status, _ raw: OpaquePointer
    ) throws(CodecError) {
        guard status != calotype_pdf_ok else { return }
        let message = unsafe String(cString: calotype_pdf_message(raw))
        switch status {
        case calotype_pdf_malformed: throw .malformed(reason: message, offset: 0)
        case calotype_pdf_unsupported: throw .unsupported(feature: message)
        default: throw .library(message: message)
        }
    }
}
#endif
