// SPDX-License-Identifier: Apache-2.0

package import EncodedImages
internal import ImageCommands
package import Pixels

/// One of the images of a file: a page of a document, a size of an icon, a mip level of a texture.
package struct ImagePage: Sendable {
    /// The page.
    package let source: ImageSource
    /// The number of the page, from 0.
    package let number: Int
    /// The number of pages.
    package let count: Int
    /// The size in which the page is displayed at 100 %, in pixels.
    ///
    /// A smaller version of the first page, such as a mip level, takes the place of that page, so that both
    /// can be compared.
    package let placedSize: PixelSize

    /// Opens a page.
    ///
    /// - Parameters:
    ///   - number: the number of the page; before the first page is the last, and after it the first.
    ///   - first: the first page.
    /// - Throws: `CodecError`.
    package init(_ number: Int, of first: ImageSource) throws(CodecError) {
        count = first.header.pageCount
        let remainder = number % count
        self.number = remainder < 0 ? remainder + count : remainder
        source = try first.page(self.number)
        let (size, whole) = (source.pixelSize, first.pixelSize)
        // The sides of a smaller version are rounded.
        let difference = abs(whole.width * size.height - whole.height * size.width)
        let isReduced =
            size.width <= whole.width && size.height <= whole.height
            && difference <= whole.largestSide
        placedSize = isReduced ? whole : size
    }

    /// Which page it is, for display.
    package var label: ViewerText { .page(number: number + 1, count: count) }

    /// The format, the size and the properties of the format, for display.
    package var facts: [(String, String)] {
        [("format", source.format.name), ("size", "\(source.pixelSize)")]
            + source.header.facts.map { ($0.name, $0.value) }
    }

    /// Names and values of the metadata.
    package var metadata: [(String, String)] {
        MetadataFacts((try? source.metadataFields()) ?? MetadataFields()).lines
    }
}
