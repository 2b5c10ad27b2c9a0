// SPDX-License-Identifier: Apache-2.0

/// A PDF file with one page.
public struct PDFSample: Sendable {
    /// The crop box and other entries of the page.
    public var page = "/MediaBox [0 0 20 10]"
    /// The operators of the page.
    public var content: String
    /// The resources of the page.
    public var resources = ""
    /// Further objects, from number 5 on, without their numbers.
    public var objects: [String] = []
    /// The second page draws nothing, if there is one.
    public var hasSecondPage = false

    /// Creates a file whose page has 20x10 points.
    public init(_ content: String) { self.content = content }

    /// The bytes; the table of objects is left out, which readers then reconstruct.
    public var bytes: [UInt8] {
        let second = hasSecondPage ? " 99 0 R" : ""
        var text = """
            %PDF-1.7
            1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj
            2 0 obj <</Type /Pages /Kids [3 0 R\(second)] /Count \(hasSecondPage ? 2 : 1)>> endobj
            3 0 obj <</Type /Page /Parent 2 0 R \(page) /Resources <<\(resources)>>
            /Contents 4 0 R>> endobj
            4 0 obj <</Length \(content.utf8.count)>> stream
            \(content)
            endstream endobj\n
            """
        for (index, object) in objects.enumerated() {
            text += "\(index + 5) 0 obj \(object) endobj\n"
        }
        if hasSecondPage {
            text += "99 0 obj <</Type /Page /Parent 2 0 R /MediaBox [0 0 5 5]>> endobj\n"
        }
        return Array((text + "trailer <</Root 1 0 R>>\n%%EOF\n").utf8)
    }
}
