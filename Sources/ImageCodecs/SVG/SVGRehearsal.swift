// SPDX-License-Identifier: Apache-2.0

#if SVG
/// A document whose drawing makes librsvg read all that it needs of the system: the names of languages,
/// the usual fonts, and the decoders of embedded images.
enum SVGRehearsal {
    static var document: [UInt8] {
        let styles = ["normal", "italic"].flatMap { style in
            ["normal", "bold"].map { "font-style='\(style)' font-weight='\($0)'" }
        }
        let texts = ["sans-serif", "serif", "monospace"].flatMap { family in
            styles.map { "<text y='8' font-family='\(family)' \($0)>Aä中</text>" }
        }
        let images = [png, jpeg, nested].map {
            "<image width='8' height='8' href='data:\($0)'/>"
        }
        let document =
            "<svg xmlns='http://www.w3.org/2000/svg' width='16' height='16'>"
            + "<switch><g systemLanguage='en'/></switch>\((texts + images).joined())</svg>"
        return Array(document.utf8)
    }

    private static let png =
        "image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNoAAAAggCB"
        + "2kUIOwAAAABJRU5ErkJggg=="
    private static let jpeg =
        "image/jpeg;base64,/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABALDA4MChAODQ4SERATGCgaGBYWGDEjJR0o"
        + "OjM9PDkzODdASFxOQERXRTc4UG1RV19iZ2hnPk1xeXBkeFxlZ2P/wAALCAAIAAgBAREA/8QAFAABAAAAAAAA"
        + "AAAAAAAAAAAAAP/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AP//Z"
    private static let nested =
        "image/svg+xml;base64,PHN2ZyB4bWxucz0naHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmcnIHdpZHRo"
        + "PScxJyBoZWlnaHQ9JzEnLz4="
}
#endif
