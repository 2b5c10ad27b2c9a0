// SPDX-License-Identifier: Apache-2.0

/// Assembles EXIF blocks and TIFF files, which have the same structure.
public struct EXIFBlock {
    public enum Value {
        case ascii(String)
        case bytes([UInt8])
        case shorts([Int])
        case longs([Int])
        case rationals([(Int, Int)])
        case signedRationals([(Int, Int)])
        /// The offset of another IFD.
        case directory([(Int, Value)])
        /// The offset of bytes; in an array of one if the type is not an offset.
        case offset(of: [UInt8])
    }

    private let isLittleEndian: Bool
    private var bytes: [UInt8]

    /// Makes a block with a first IFD and, for a thumbnail, a second.
    ///
    /// Tags must be in ascending order; values that exceed their entry follow the IFD.
    public static func make(
        _ entries: [(Int, Value)], second: [(Int, Value)]? = nil, isLittleEndian: Bool = true
    ) -> [UInt8] {
        var block = EXIFBlock(isLittleEndian: isLittleEndian)
        let next = block.append(entries)
        if let second {
            block.patch(next, block.bytes.count, 4)
            _ = block.append(second)
        }
        return block.bytes
    }

    private init(isLittleEndian: Bool) {
        self.isLittleEndian = isLittleEndian
        bytes = Array((isLittleEndian ? "II" : "MM").utf8)
        bytes += number(42, 2) + number(8, 4)
    }

    private func number(_ value: Int, _ byteCount: Int) -> [UInt8] {
        let little = (0..<byteCount).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        return isLittleEndian ? little : little.reversed()
    }

    private mutating func patch(_ offset: Int, _ value: Int, _ byteCount: Int) {
        bytes.replaceSubrange(offset..<offset + byteCount, with: number(value, byteCount))
    }

    /// - Returns: the position of the offset of the next IFD.
    private mutating func append(_ entries: [(Int, Value)]) -> Int {
        let start = bytes.count
        let next = start + 2 + entries.count * 12
        bytes += number(entries.count, 2)
        bytes += [UInt8](repeating: 0, count: entries.count * 12 + 4)
        var last: [(entry: Int, content: [UInt8])] = []
        for (index, (tag, value)) in entries.enumerated() {
            let entry = start + 2 + index * 12
            let (type, count, content) = encode(value)
            patch(entry, tag, 2)
            patch(entry + 2, type, 2)
            patch(entry + 4, count, 4)
            if case .directory(let entries) = value {
                alignToEven()
                patch(entry + 8, bytes.count, 4)
                _ = append(entries)
            } else if case .offset(let content) = value {
                last.append((entry, content))
            } else if content.count <= 4 {
                bytes.replaceSubrange(entry + 8..<entry + 8 + content.count, with: content)
            } else {
                alignToEven()
                patch(entry + 8, bytes.count, 4)
                bytes += content
            }
        }
        // Large values are last, as in most files.
        for (entry, content) in last {
            alignToEven()
            patch(entry + 8, bytes.count, 4)
            bytes += content
        }
        alignToEven()
        return next
    }

    private mutating func alignToEven() {
        if bytes.count % 2 == 1 { bytes.append(0) }
    }

    private func encode(_ value: Value) -> (type: Int, count: Int, bytes: [UInt8]) {
        switch value {
        case .ascii(let text): (2, text.utf8.count + 1, Array(text.utf8) + [0])
        case .bytes(let bytes): (7, bytes.count, bytes)
        case .shorts(let values): (3, values.count, values.flatMap { number($0, 2) })
        case .longs(let values): (4, values.count, values.flatMap { number($0, 4) })
        case .rationals(let values):
            (5, values.count, values.flatMap { number($0.0, 4) + number($0.1, 4) })
        case .signedRationals(let values):
            (10, values.count, values.flatMap { number($0.0, 4) + number($0.1, 4) })
        case .directory, .offset: (4, 1, [])
        }
    }
}

extension EXIFBlock {
    /// Makes a block with all fields of a camera, a GPS position and a thumbnail of 40 bytes.
    public static func photograph(isLittleEndian: Bool, orientation: Int = 6) -> [UInt8] {
        let thumbnail: [UInt8] = [0xFF, 0xD8, 0xFF] + (0..<35).map { $0 + 100 } + [0xFF, 0xD9]
        return make(
            [
                (0x010E, .ascii("A harbour in the morning")),
                (0x010F, .ascii("Maker  ")), (0x0110, .ascii("Model 5")),
                (0x0112, .shorts([orientation])), (0x0131, .ascii("Firmware 1.0")),
                (0x0132, .ascii("2024:03:01 08:00:00")), (0x013B, .ascii("Zoë")),
                (0x4746, .shorts([4])),
                (0x8298, .ascii("Zoë\0Editor")),
                (
                    0x8769,
                    .directory([
                        (0x829A, .rationals([(1, 250)])), (0x829D, .rationals([(28, 10)])),
                        (0x8822, .shorts([3])), (0x8827, .shorts([400])),
                        (0x9003, .ascii("2024:02:29 23:59:59")),
                        (0x9004, .ascii("2024:02:29 23:59:59")),
                        (0x9011, .ascii("-03:30")),
                        (0x9204, .signedRationals([(-1, 3)])), (0x9207, .shorts([5])),
                        (0x9209, .shorts([0x59])), (0x920A, .rationals([(350, 10)])),
                        (0x927C, .bytes(Array("notes of the maker".utf8))),
                        (0x9286, .bytes(Array("ASCII\0\0\0a comment".utf8))),
                        (0x9291, .ascii("250")), (0xA001, .shorts([0xFFFF])),
                        (0xA002, .longs([4000])), (0xA003, .longs([3000])),
                        (0xA005, .directory([(1, .ascii("R03"))])), (0xA403, .shorts([1])),
                        (0xA405, .shorts([52])), (0xA431, .ascii("123456")),
                        (0xA433, .ascii("Lens maker")), (0xA434, .ascii("35 mm f/2")),
                    ])
                ),
                (
                    0x8825,
                    .directory([
                        (0x0001, .ascii("S")), (0x0002, .rationals([(33, 1), (52, 1), (0, 1)])),
                        (0x0003, .ascii("W")),
                        (0x0004, .rationals([(151, 1), (12, 1), (3_600, 100)])),
                        (0x0005, .bytes([1])), (0x0006, .rationals([(21, 2)])),
                        (0x0007, .rationals([(3, 1), (29, 1), (59, 1)])), (0x0010, .ascii("M")),
                        (0x0011, .rationals([(2_705, 10)])), (0x001D, .ascii("2024:03:01")),
                    ])
                ),
            ],
            second: [
                (0x0103, .shorts([6])), (0x0201, .offset(of: thumbnail)), (0x0202, .longs([40])),
            ], isLittleEndian: isLittleEndian)
    }
}
