// SPDX-License-Identifier: Apache-2.0

/// The names of a file format, and the signatures that its files begin with.
public struct ImageFormat: Hashable, Sendable {
    /// Bytes at a fixed offset in every file of a format.
    public struct Signature: Hashable, Sendable {
        /// The bytes.
        public let bytes: [UInt8]
        /// The offset of the first byte.
        public let offset: Int

        /// Bytes at an offset.
        public init(_ bytes: [UInt8], at offset: Int = 0) {
            self.bytes = bytes
            self.offset = offset
        }

        /// Whether a file has these bytes at this offset.
        public func matches(_ file: Span<UInt8>) -> Bool {
            guard file.count >= offset + bytes.count else { return false }
            return bytes.indices.allSatisfy { file[offset + $0] == bytes[$0] }
        }
    }

    /// The name in lower case, such as `jpeg`.
    public let name: String
    /// The file extensions in lower case, the usual one first; empty if files are never read.
    public let extensions: [String]
    /// The media type, such as `image/jpeg`.
    public let mediaType: String
    /// The signatures, one of which every file has.
    public let signatures: [Signature]

    /// Whether files go unchanged into the memory of a display, so that the size must be exact.
    public let isForDisplays: Bool

    /// Whether `name` is its name or one of its file extensions, ignoring case.
    public func isNamed(_ name: String) -> Bool {
        let name = name.lowercased()
        return self.name == name || extensions.contains(name)
    }

    /// A format; see the properties of the same names.
    public init(
        name: String, extensions: [String], mediaType: String, signatures: [Signature],
        isForDisplays: Bool = false
    ) {
        self.name = name
        self.extensions = extensions
        self.mediaType = mediaType
        self.signatures = signatures
        self.isForDisplays = isForDisplays
    }
}
