// SPDX-License-Identifier: Apache-2.0

/// The rating and the label in an XMP sidecar, which darktable and digiKam read.
///
/// - SeeAlso: XMP Specification Part 1, 8.4 (`xmp:Rating`, from −1, rejected, to 5; `xmp:Label`).
package enum XMPSidecar {
    private static let favouriteLabel = "Favourite"

    /// Returns the path of the sidecar of an image.
    package static func path(of image: String) -> String { "\(image).xmp" }

    /// Returns the rating of a sidecar; `nil` if it has none.
    package static func rating(_ file: [UInt8]) -> Int? {
        value(of: "xmp:Rating", in: file).flatMap { Int($0) }
    }

    /// Returns a sidecar with another rating; all other properties stay.
    ///
    /// - Parameters:
    ///   - rating: from −1 to 5.
    ///   - file: the sidecar; `nil` if it does not exist.
    /// - Returns: `nil` if the sidecar contains no RDF description to which the rating can be added.
    package static func setting(_ rating: Int, in file: [UInt8]?) -> [UInt8]? {
        setting("xmp:Rating", to: "\(rating)", in: file ?? Array(empty.utf8))
    }

    /// Returns a sidecar that describes a favourite by its label, or no favourite.
    ///
    /// A label of another kind stays.
    ///
    /// - Parameters:
    ///   - isFavourite: whether the image is a favourite.
    ///   - file: the sidecar; `nil` if it does not exist.
    /// - Returns: `nil` if the sidecar contains no RDF description to which the label can be added.
    package static func setting(isFavourite: Bool, in file: [UInt8]?) -> [UInt8]? {
        let file = file ?? Array(empty.utf8)
        let label = value(of: "xmp:Label", in: file) ?? ""
        if isFavourite == (label == favouriteLabel) || !(label.isEmpty || label == favouriteLabel) {
            return file
        }
        // A removed label is left empty.
        return setting("xmp:Label", to: isFavourite ? favouriteLabel : "", in: file)
    }

    private static let empty = """
        <?xml version="1.0" encoding="UTF-8"?>
        <x:xmpmeta xmlns:x="adobe:ns:meta/">
         <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
          <rdf:Description rdf:about=""/>
         </rdf:RDF>
        </x:xmpmeta>

        """

    private static func setting(_ name: String, to value: String, in file: [UInt8]) -> [UInt8]? {
        var file = file
        if let range = range(of: name, in: file) {
            file.replaceSubrange(range, with: Array(value.utf8))
            return file
        }
        let start = Array("<rdf:Description".utf8)
        guard let index = position(of: start, in: file) else { return nil }
        let isDeclared = position(of: Array("xmlns:xmp=".utf8), in: file) != nil
        let namespace = isDeclared ? "" : " xmlns:xmp=\"http://ns.adobe.com/xap/1.0/\""
        let added = "\(namespace) \(name)=\"\(value)\""
        file.insert(contentsOf: Array(added.utf8), at: index + start.count)
        return file
    }

    private static func value(of name: String, in file: [UInt8]) -> String? {
        range(of: name, in: file).map { String(decoding: file[$0], as: UTF8.self) }
    }

    /// Returns the range of a value, as an attribute or an element.
    private static func range(of name: String, in file: [UInt8]) -> Range<Int>? {
        for (start, end) in [("\(name)=\"", "\""), ("\(name)='", "'"), ("<\(name)>", "<")] {
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
