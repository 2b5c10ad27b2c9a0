// SPDX-License-Identifier: Apache-2.0

#if PDF
internal import CPDF
#endif
internal import EncodedImages

let pdfFormat = ImageFormat(
    name: "pdf", extensions: ["pdf"], mediaType: "application/pdf",
    signatures: [.init(Array("%PDF-".utf8))])

#if PDF
/// PDF (ISO 32000): the first page, drawn by poppler and cairo at the requested size.
///
/// The natural size is that of the crop box at 72 pixels per inch. Nothing is drawn behind the page, as in
/// the artwork of programs. Only fonts that the file contains are used. A document is a program for a large
/// interpreter, so that this codec is not among the built-in ones.
struct PDFCodec: ImageCodec {
    let format = pdfFormat
    let decoder: any ImageDecoder = VectorDecoder<PDFDocument>()
    let encoder: (any ImageEncoder)? = nil

    /// A page with a path, whose drawing makes poppler read its configuration and that of fontconfig.
    fileprivate static let rehearsal = """
        %PDF-1.4
        1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj
        2 0 obj <</Type /Pages /Kids [3 0 R] /Count 1>> endobj
        3 0 obj <</Type /Page /Parent 2 0 R /MediaBox [0 0 8 8] /Contents 4 0 R>> endobj
        4 0 obj <</Length 21>> stream
        1 0 0 rg 0 0 4 4 re f
        endstream endobj
        trailer <</Root 1 0 R>>
        %%EOF
        """
}
#endif

var pdfEntry: CodecEntry {
    #if PDF
    var entry = CodecEntry(PDFCodec(), preload: { _ = unsafe calotype_pdf_missing() })
    entry.isSandboxOnly = true
    entry.needsOwnProcess = true
    entry.rehearsals = { [Array(PDFCodec.rehearsal.utf8)] }
    return entry
    #else
    CodecEntry(missing: pdfFormat, trait: "PDF")
    #endif
}
