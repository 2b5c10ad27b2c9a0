// SPDX-License-Identifier: Apache-2.0

/// What a file says of its picture besides the pixels and their colours, as bytes.
///
/// Each block stands without the frame that its container puts around it, so that one format's can
/// be written into another's.
public struct MetadataBlocks: Hashable, Sendable {
    /// An EXIF block from its byte order mark, `II` or `MM`.
    public var exif: [UInt8]?
    /// An XMP packet: XML in UTF-8.
    public var xmp: [UInt8]?
    /// IPTC-IIM records, each beginning with the byte 0x1C.
    public var iptc: [UInt8]?

    public init() {}
}
