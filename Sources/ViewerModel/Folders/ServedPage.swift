// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// One page of the list of a folder on a server, `/-/listing/…`, whose values are untrusted.
struct ServedPage {
    struct Image {
        let name: String
        let version: String
        /// The upright size in pixels; 0 for an image that the server cannot read.
        let width: Int
        let height: Int
        let placeholder: String?
    }

    /// The sides of renditions that the server recommends.
    let ladder: [Int]
    /// The offset of the next page.
    let next: Int?
    let images: [Image]

    private struct Page: Decodable {
        let ladder: [Int]
        let next: Int?
        let pictures: Columns
    }

    private struct Columns: Decodable {
        let name: [String]
        let width: [Int]
        let height: [Int]
        let version: [String]
        let placeholder: [String: String]
    }

    /// Parses a page; `nil` if it is none.
    ///
    /// Images whose names are no file names are omitted.
    init?(json: [UInt8]) {
        guard let page = try? JSONDecoder().decode(Page.self, from: Data(json)) else { return nil }
        let columns = page.pictures
        let count = columns.name.count
        guard columns.width.count == count, columns.height.count == count,
            columns.version.count == count
        else { return nil }
        ladder = page.ladder
        next = page.next
        images = (0..<count).compactMap { index in
            let (name, side) = (columns.name[index], 0...1 << 30)
            guard isFileName(name), side ~= columns.width[index], side ~= columns.height[index]
            else { return nil }
            return Image(
                name: name, version: columns.version[index], width: columns.width[index],
                height: columns.height[index], placeholder: columns.placeholder[String(index)])
        }
    }
}

/// Returns whether a text is the name of a file in a folder.
func isFileName(_ name: String) -> Bool {
    !name.isEmpty && name != "." && name != ".." && !name.utf8.contains { $0 == 0 || $0 == 0x2F }
}
