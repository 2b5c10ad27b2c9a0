// SPDX-License-Identifier: Apache-2.0

/// The metadata blocks of a file as bytes, without the framing of its format.
///
/// The blocks of one format can thus be written to another one.
public struct MetadataBlocks: Hashable, Sendable {
    /// An EXIF block that begins with its byte order mark, `II` or `MM`.
    public var exif: [UInt8]?
    /// An XMP packet: XML in UTF-8.
    public var xmp: [UInt8]?
    /// IPTC-IIM records, each of which begins with the byte 0x1C.
    public var iptc: [UInt8]?

    /// No blocks.
    public init() {}
}
