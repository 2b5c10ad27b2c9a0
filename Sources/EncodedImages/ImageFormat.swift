// SPDX-License-Identifier: Apache-2.0

/// A file format: what it is called, and how its files are told from others.
public struct ImageFormat: Hashable, Sendable {
    /// Bytes that stand at a fixed place in every file of a format.
    public struct Signature: Hashable, Sendable {
        public let bytes: [UInt8]
        public let offset: Int

        public init(_ bytes: [UInt8], at offset: Int = 0) {
            self.bytes = bytes
            self.offset = offset
        }

        public func matches(_ file: Span<UInt8>) -> Bool {
            guard file.count >= offset + bytes.count else { return false }
            return bytes.indices.allSatisfy { file[offset + $0] == bytes[$0] }
        }
    }

    /// The name in lower case, such as `jpeg`.
    public let name: String
    /// File name extensions in lower case, the usual one first; none if no files of it are read.
    public let extensions: [String]
    /// The media type, such as `image/jpeg`.
    public let mediaType: String
    public let signatures: [Signature]

    /// Whether its pictures go into the memory of a display as they are: then no size will do but the
    /// one that was asked for.
    public let isForDisplays: Bool

    /// Whether that is its name or one of its file name extensions, in any case.
    public func isNamed(_ name: String) -> Bool {
        let name = name.lowercased()
        return self.name == name || extensions.contains(name)
    }

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
