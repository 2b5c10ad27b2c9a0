// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// The fields of an EXIF block that decide how an image is shown.
///
/// Damage is never an error: what cannot be read is `nil`.
/// - SeeAlso: CIPA DC-008 (EXIF 2.32), section 4.6; TIFF 6.0, section 2.
public struct EXIF: Hashable, Sendable {
    /// The orientation of the stored rows; `nil` if the block does not contain a valid one.
    public private(set) var orientation: Orientation?
    /// The bytes of the block that are the thumbnail, itself a JPEG file; `nil` if it has none.
    public private(set) var thumbnail: Range<Int>?

    /// Reads a block that begins with the byte order mark `II` or `MM`.
    public init(_ block: Span<UInt8>) {
        guard let layout = TIFFLayout(block),
            let first = TIFFDirectoryOutline(layout, block, at: layout.firstDirectory(block))
        else { return }
        Self.forEachInteger(in: first, block) { tag, value in
            guard tag == .orientation else { return }
            orientation = UInt8(exactly: value).flatMap(Orientation.init(rawValue:))
        }
        guard first.isWhole, first.next > first.offset,
            let second = TIFFDirectoryOutline(layout, block, at: first.next)
        else { return }
        var offset = 0
        var count = 0
        Self.forEachInteger(in: second, block) { tag, value in
            if tag == .jpegInterchangeFormat { offset = value }
            if tag == .jpegInterchangeFormatLength { count = value }
        }
        if offset > 0, count > 0, offset + count <= block.count {
            thumbnail = offset..<offset + count
        }
    }

    /// Calls `body` with the tag and the first value of each entry of 16-bit or 32-bit integers.
    private static func forEachInteger(
        in directory: TIFFDirectoryOutline, _ block: Span<UInt8>,
        _ body: (_ tag: TIFFTag, _ value: Int) -> Void
    ) {
        for index in 0..<directory.entryCount {
            guard let entry = directory.entry(index, block), entry.type == 3 || entry.type == 4,
                let value = directory.layout.integer(
                    block, at: entry.offset + 8, entry.valueByteCount)
            else { continue }
            body(entry.tag, value)
        }
    }
}
