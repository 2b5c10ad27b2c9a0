// SPDX-License-Identifier: Apache-2.0

#if AVIF || HEIF
internal import EncodedImages

/// The properties of a file's items and their associations.
///
/// - SeeAlso: ISO/IEC 23008-12, 9.3.1 (`ipma`).
struct ItemProperties {
    private var boxes: [BoxReader.Box] = []
    private var associations: Range<Int> = 0..<0

    init(_ file: Span<UInt8>) {
        guard let meta = BoxReader.first("meta", in: 0..<file.count, file),
            meta.start + 4 <= meta.range.upperBound,
            let properties = BoxReader.first(
                "iprp", in: meta.start + 4..<meta.range.upperBound, file),
            let container = BoxReader.first("ipco", in: properties.body, file)
        else { return }
        var reader = BoxReader(container.body)
        while let box = reader.next(file), boxes.count < 32_768 { boxes.append(box) }
        associations = properties.body
    }

    /// Calls `body` for each property of each item, in the listed order.
    ///
    /// - Parameters:
    ///   - file: the file.
    ///   - body: called with the item, with the property, which is `nil` if the file lacks it, and
    ///     with whether it is essential.
    func forEachAssociation(
        _ file: Span<UInt8>, _ body: (Int, BoxReader.Box?, Bool) -> Void
    ) {
        var reader = BoxReader(associations)
        while let box = reader.next(file) {
            guard box.type == "ipma",
                let flags = file.integer(at: box.start, byteCount: 4),
                let count = file.integer(at: box.start + 4, byteCount: 4)
            else { continue }
            let itemWidth = flags >> 24 == 0 ? 2 : 4
            let width = flags & 1 == 1 ? 2 : 1
            let essential = width == 2 ? 0x8000 : 0x80
            var offset = box.start + 8
            for _ in 0..<count {
                guard offset < box.range.upperBound,
                    let item = file.integer(at: offset, byteCount: itemWidth),
                    let number = file.integer(at: offset + itemWidth, byteCount: 1)
                else { break }
                offset += itemWidth + 1
                for index in 0..<number {
                    let place = offset + index * width
                    guard let value = file.integer(at: place, byteCount: width) else { break }
                    let index = value & (essential - 1)
                    // The index 0 associates nothing.
                    if index == 0 { continue }
                    body(
                        item, index <= boxes.count ? boxes[index - 1] : nil,
                        value & essential != 0)
                }
                offset += number * width
            }
        }
    }
}
#endif
