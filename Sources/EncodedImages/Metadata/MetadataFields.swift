// SPDX-License-Identifier: Apache-2.0

/// The parsed metadata of an image: the fields of its EXIF, XMP and IPTC blocks.
///
/// Its size has a bound whatever the blocks contain: a text is cut after ``maximumTextByteCount``
/// bytes, a list after ``maximumListByteCount`` bytes and ``maximumListCount`` items.
public struct MetadataFields: Hashable, Sendable {
    /// The fields of one block, and the size of the block in bytes.
    public struct Block<Fields: Hashable & Sendable>: Hashable, Sendable {
        /// The parsed fields.
        public var fields: Fields
        /// The size of the block in bytes.
        public var byteCount: Int

        /// The fields of a block.
        public init(_ fields: Fields, byteCount: Int) {
            self.fields = fields
            self.byteCount = byteCount
        }
    }

    /// The EXIF block.
    public var exif: Block<EXIFFields>?
    /// The XMP packet.
    public var xmp: Block<XMPFields>?
    /// The IPTC records.
    public var iptc: Block<IPTCFields>?

    /// The maximum length of a text, in bytes of UTF-8.
    public static let maximumTextByteCount = 8 << 10
    /// The maximum number of items of a list.
    public static let maximumListCount = 1000
    /// The maximum length of all items of a list, in bytes of UTF-8.
    public static let maximumListByteCount = 64 << 10

    /// No metadata.
    public init() {}

    /// Parses the blocks of a file.
    public init(_ blocks: MetadataBlocks) {
        if let block = blocks.exif {
            exif = Block(EXIFFields(block.span).bounded, byteCount: block.count)
        }
        if let block = blocks.xmp { xmp = Block(XMPFields(block).bounded, byteCount: block.count) }
        if let block = blocks.iptc {
            iptc = Block(IPTCFields(block).bounded, byteCount: block.count)
        }
    }
}

extension EXIFFields {
    /// The fields that are texts.
    package static var texts: [WritableKeyPath<EXIFFields, String?>] {
        [
            \.cameraMake, \.cameraModel, \.cameraSerialNumber, \.lensMake, \.lensModel,
            \.lensSerialNumber, \.software, \.artist, \.copyright, \.imageDescription,
            \.userComment,
        ]
    }

    fileprivate var bounded: EXIFFields { self.bounded(texts: Self.texts, lists: []) }
}

extension XMPFields {
    /// The fields that are texts.
    package static var texts: [WritableKeyPath<XMPFields, String?>] {
        [
            \.title, \.description, \.rights, \.label, \.createDate, \.modifyDate, \.creatorTool,
            \.headline, \.instructions, \.credit, \.source, \.city, \.state, \.country,
            \.dateCreated, \.panoramaProjection,
        ]
    }

    /// The fields that are lists.
    package static var lists: [WritableKeyPath<XMPFields, [String]>] { [\.creators, \.subjects] }

    fileprivate var bounded: XMPFields { self.bounded(texts: Self.texts, lists: Self.lists) }
}

extension IPTCFields {
    /// The fields that are texts.
    package static var texts: [WritableKeyPath<IPTCFields, String?>] {
        [
            \.title, \.headline, \.caption, \.captionWriter, \.bylineTitle, \.copyright, \.credit,
            \.source, \.instructions, \.sublocation, \.city, \.state, \.country, \.countryCode,
        ]
    }

    /// The fields that are lists.
    package static var lists: [WritableKeyPath<IPTCFields, [String]>] { [\.keywords, \.bylines] }

    fileprivate var bounded: IPTCFields { self.bounded(texts: Self.texts, lists: Self.lists) }
}

extension EXIFFields: BoundedFields {}
extension XMPFields: BoundedFields {}
extension IPTCFields: BoundedFields {}

private protocol BoundedFields {}

extension BoundedFields {
    fileprivate func bounded(
        texts: [WritableKeyPath<Self, String?>], lists: [WritableKeyPath<Self, [String]>]
    ) -> Self {
        var result = self
        for text in texts {
            guard let value = self[keyPath: text] else { continue }
            result[keyPath: text] = value.prefix(utf8: MetadataFields.maximumTextByteCount)
        }
        for list in lists {
            var rest = MetadataFields.maximumListByteCount
            result[keyPath: list] = self[keyPath: list].prefix(MetadataFields.maximumListCount)
                .map { $0.prefix(utf8: MetadataFields.maximumTextByteCount) }
                .prefix { item in
                    rest -= item.utf8.count
                    return rest >= 0
                }
        }
        return result
    }
}

extension String {
    /// The longest prefix of whole scalars with at most this number of bytes in UTF-8.
    fileprivate func prefix(utf8 byteCount: Int) -> String {
        guard utf8.count > byteCount else { return self }
        var end = utf8.index(utf8.startIndex, offsetBy: byteCount)
        // Continuation bytes belong to the scalar before.
        while end > utf8.startIndex, utf8[end] & 0xC0 == 0x80 { end = utf8.index(before: end) }
        return String(self[..<end])
    }
}
