// SPDX-License-Identifier: Apache-2.0

/// The rating in an XMP sidecar, which darktable and digiKam read.
///
/// - SeeAlso: XMP Specification Part 1, 8.4 (`xmp:Rating`, from −1, rejected, to 5).
package enum Sidecar {
    /// Returns the path of the sidecar of an image.
    package static func path(of image: String) -> String { "\(image).xmp" }

    /// Returns the rating of a sidecar; `nil` if it has none.
    package static func rating(_ file: [UInt8]) -> Int? {
        ratingRange(file).flatMap { Int(String(decoding: file[$0], as: UTF8.self)) }
    }

    /// Returns a sidecar with another rating; all other properties stay.
    ///
    /// - Parameters:
    ///   - rating: from −1 to 5.
    ///   - file: the sidecar; `nil` if it does not exist.
    /// - Returns: `nil` if the sidecar contains no RDF description to which the rating can be added.
    package static func setting(_ rating: Int, in file: [UInt8]?) -> [UInt8]? {
        guard var file else { return Array(new(rating).utf8) }
        if let range = ratingRange(file) {
            file.replaceSubrange(range, with: Array("\(rating)".utf8))
            return file
        }
        let start = Array("<rdf:Description".utf8)
        guard let index = position(of: start, in: file) else { return nil }
        let attribute = " xmlns:xmp=\"http://ns.adobe.com/xap/1.0/\" xmp:Rating=\"\(rating)\""
        let declared = position(of: Array("xmlns:xmp=".utf8), in: file) != nil
        let added = declared ? " xmp:Rating=\"\(rating)\"" : attribute
        file.insert(contentsOf: Array(added.utf8), at: index + start.count)
        return file
    }

    private static func new(_ rating: Int) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <x:xmpmeta xmlns:x="adobe:ns:meta/">
         <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
          <rdf:Description rdf:about="" xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:Rating="\(rating)"/>
         </rdf:RDF>
        </x:xmpmeta>

        """
    }

    /// Returns the range of the value, as an attribute or an element.
    private static func ratingRange(_ file: [UInt8]) -> Range<Int>? {
        for (start, end) in [("xmp:Rating=\"", "\""), ("xmp:Rating='", "'"), ("<xmp:Rating>", "<")]
        {
            guard let index = position(of: Array(start.utf8), in: file) else { continue }
            let first = index + start.utf8.count
            guard let last = file[first...].firstIndex(of: Array(end.utf8)[0]) else { continue }
            return first..<last
        }
        return nil
    }

    private static func position(of text: [UInt8], in file: [UInt8]) -> Int? {
        guard file.count >= text.count else { return nil }
        return (0...file.count - text.count).first { file[$0...].starts(with: text) }
    }
}
