// SPDX-License-Identifier: Apache-2.0

#if HEIF
internal import EncodedImages
internal import Pixels

/// The rotation, mirroring and cropping of an item, which libheif applies but does not report.
struct HEIFTransformations {
    /// The combined orientation of all transformations, in the order in which they are listed.
    ///
    /// It is ``Orientation/upright`` if the item is also cropped: then libheif applies
    /// everything.
    private(set) var orientation = Orientation.upright
    private(set) var isCropped = false

    init(ofItem item: Int, _ file: Span<UInt8>) {
        guard let meta = BoxReader.first("meta", in: 0..<file.count, file),
            meta.start + 4 <= meta.range.upperBound,
            let properties = BoxReader.first(
                "iprp", in: meta.start + 4..<meta.range.upperBound, file),
            let container = BoxReader.first("ipco", in: properties.body, file)
        else { return }
        var boxes: [BoxReader.Box] = []
        var reader = BoxReader(container.body)
        while let box = reader.next(file), boxes.count < 32_768 { boxes.append(box) }
        var turned = Orientation.upright
        for index in Self.associations(item, properties.body, file)
        where index >= 1 && index <= boxes.count {
            let box = boxes[index - 1]
            let value = file.integer(at: box.start, byteCount: 1) ?? 0
            switch box.type {
            case "clap": isCropped = true
            case "irot":
                turned = turned.followed(
                    by: Orientation(
                        quartersCounterClockwise: value, mirroredTopToBottom: false,
                        leftToRight: false))
            case "imir":
                turned = turned.followed(
                    by: value & 1 == 0 ? .mirroredVertically : .mirroredHorizontally)
            default: break
            }
        }
        if !isCropped { orientation = turned }
    }

    /// Returns the indices of an item's properties, counted from 1.
    private static func associations(
        _ item: Int, _ range: Range<Int>, _ file: Span<UInt8>
    ) -> [Int] {
        var result: [Int] = []
        var reader = BoxReader(range)
        while let box = reader.next(file) {
            guard box.type == "ipma",
                let flags = file.integer(at: box.start, byteCount: 4),
                let count = file.integer(at: box.start + 4, byteCount: 4)
            else { continue }
            let itemWidth = flags >> 24 == 0 ? 2 : 4
            let width = flags & 1 == 1 ? 2 : 1
            var offset = box.start + 8
            for _ in 0..<count {
                guard offset < box.range.upperBound,
                    let entry = file.integer(at: offset, byteCount: itemWidth),
                    let number = file.integer(at: offset + itemWidth, byteCount: 1)
                else { break }
                offset += itemWidth + 1
                if entry == item {
                    for index in 0..<number {
                        let place = offset + index * width
                        guard let value = file.integer(at: place, byteCount: width) else {
                            break
                        }
                        result.append(value & (width == 2 ? 0x7FFF : 0x7F))
                    }
                }
                offset += number * width
            }
        }
        return result
    }
}
#endif
