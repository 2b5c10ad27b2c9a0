// SPDX-License-Identifier: Apache-2.0

internal import CInflate
package import EncodedImages

/// Reads the files of a ZIP archive, each when it is needed.
///
/// Stored and deflated entries are read, which are all that archives of images contain in practice, and all that
/// ISO/IEC 21320-1 permits. The directory is parsed in Swift, because archives are untrusted and are read in
/// the process of the window. Limits are checked on the numbers of the directory, before memory is allocated
/// for what they describe.
/// - SeeAlso: APPNOTE.TXT, the .ZIP File Format Specification 6.3.10, whose clauses comments cite.
package struct ZIPReader: Sendable {
    /// A file in the archive.
    package struct Entry: Hashable, Sendable {
        /// The path in the archive, without `.`, `..` or empty names.
        package let name: String
        /// The size of the file in bytes, as the directory specifies it.
        package let byteCount: Int
        /// The CRC-32 of the file.
        package let checksum: UInt32
        let storedByteCount: Int
        let flags: Int
        let method: Int
        /// The offset of the local header.
        let offset: Int
        /// The name in the directory, as it is stored.
        let storedName: Range<Int>
    }

    /// The maximum number of entries of an archive.
    package static let maximumEntryCount = 250_000
    /// The maximum size of the directory in bytes.
    package static let maximumDirectoryByteCount = 64 << 20
    /// DEFLATE represents at most 258 bytes in 2 bits (RFC 1951).
    private static let maximumRatio = 1032

    /// The files in the order of the directory.
    ///
    /// Folders and links are omitted. Of entries with equal names, the last one is the file, as for programs
    /// that extract.
    package let entries: [Entry]
    private let bytes: EncodedBytes
    private let limits: DecodeLimits
    private let directory: ZIPDirectory

    /// Opens an archive and reads its directory.
    ///
    /// - Parameters:
    ///   - path: the path of the archive.
    ///   - limits: the limits on each file in the archive; the archive itself may be larger.
    /// - Throws: `CodecError/file(reason:)`, `CodecError/unknownFormat` if it is no archive,
    ///   `CodecError/malformed(reason:offset:)` for a damaged directory or a name that leaves the archive,
    ///   `CodecError/limitExceeded(_:needed:allowed:)` with `itemCount` or `metadataByteCount` for a large
    ///   directory, or `CodecError/unsupported(feature:)`.
    package init(_ path: String, limits: DecodeLimits = DecodeLimits()) throws(CodecError) {
        var archiveLimits = limits
        archiveLimits.maximumByteCount = .max
        archiveLimits.maximumItemCount = Self.maximumEntryCount
        archiveLimits.maximumMetadataByteCount = Self.maximumDirectoryByteCount
        bytes = try EncodedBytes(opening: path, limits: archiveLimits)
        self.limits = limits
        directory = try ZIPDirectory(bytes, archiveLimits)
        entries = try directory.entries()
        try bytes.checkUnchanged()
    }

    /// Returns whether a file begins as archives do; reads four bytes.
    package static func isArchive(_ path: String) -> Bool {
        guard let bytes = try? EncodedBytes(reading: path, first: 4, limits: .unlimitedFiles) else {
            return false
        }
        let signature = bytes.withBytes { $0.littleEndian32(at: 0) }.map { Int($0) }
        return signature == ZIPDirectory.localSignature || signature == ZIPDirectory.endSignature
    }

    /// Returns the bytes of a file, whose checksum is verified.
    ///
    /// - Throws: `CodecError/unsupported(feature:)` for encrypted entries and other compression methods,
    ///   `CodecError/limitExceeded(_:needed:allowed:)` before memory is allocated,
    ///   `CodecError/malformed(reason:offset:)`, or `CodecError/fileChanged`.
    package func contents(of entry: Entry) throws(CodecError) -> [UInt8] {
        // Clause 4.4.4: bit 0 for encryption, bit 13 for an encrypted directory.
        guard entry.flags & 0x2001 == 0 else { throw .unsupported(feature: "encrypted archives") }
        guard entry.method == 0 || entry.method == 8 else {
            throw .unsupported(feature: "ZIP compression method \(entry.method)")
        }
        try limits.check(.byteCount, max(entry.byteCount, entry.storedByteCount))
        let isStored = entry.method == 0
        guard entry.storedByteCount <= directory.start else {
            throw .malformed(
                reason: "“\(entry.name)” is larger than the archive", offset: entry.offset)
        }
        let largest = isStored ? entry.storedByteCount : entry.storedByteCount * Self.maximumRatio
        guard entry.byteCount <= largest, !isStored || entry.byteCount == largest else {
            throw .malformed(
                reason: "\(entry.storedByteCount) bytes cannot expand to \(entry.byteCount)",
                offset: entry.offset)
        }
        do throws(CodecError) {
            let stored = try storedBytes(of: entry)
            let contents = isStored ? stored : try Self.inflate(stored, entry)
            try bytes.checkUnchanged()
            var checksum = CRC32()
            checksum.combine(contents.span)
            guard checksum.value == entry.checksum else {
                throw .malformed(
                    reason: "the CRC-32 of “\(entry.name)” differs", offset: entry.offset)
            }
            return contents
        } catch {
            // A change while it is read looks like damage.
            try bytes.checkUnchanged()
            throw error
        }
    }

    /// Returns the bytes of an entry after its local header, which must have the same name.
    private func storedBytes(of entry: Entry) throws(CodecError) -> [UInt8] {
        let (start, end) = (entry.offset, directory.start)
        let headerByteCount = 30
        guard start <= end - headerByteCount else {
            throw .malformed(reason: "a local header lies beyond the files", offset: start)
        }
        let header = bytes.copy(of: start..<start + headerByteCount)
        let signature = header.span.littleEndian(at: 0, byteCount: 4)
        let nameByteCount = header.span.littleEndian(at: 26, byteCount: 2)
        let extraByteCount = header.span.littleEndian(at: 28, byteCount: 2)
        let nameEnd = start + headerByteCount + nameByteCount
        guard signature == ZIPDirectory.localSignature,
            nameEnd + extraByteCount <= end - entry.storedByteCount
        else {
            throw .malformed(reason: "a local header is damaged", offset: start)
        }
        guard
            bytes.copy(of: start + headerByteCount..<nameEnd)
                .elementsEqual(directory.bytes[entry.storedName])
        else {
            throw .malformed(
                reason: "“\(entry.name)” has another name in its local header", offset: start)
        }
        let first = nameEnd + extraByteCount
        return bytes.copy(of: first..<first + entry.storedByteCount)
    }

    private static func inflate(
        _ stored: [UInt8], _ entry: Entry
    ) throws(CodecError) -> [UInt8] {
        if let error = unsafe calotype_inflate_missing() {
            throw .library(message: unsafe String(cString: error))
        }
        var result = calotype_inflate_no_memory
        let contents = unsafe [UInt8](unsafeUninitializedCapacity: entry.byteCount) { room, count in
            result = unsafe stored.withUnsafeBufferPointer { stored in
                unsafe calotype_inflate_whole(
                    stored.baseAddress, stored.count, room.baseAddress, entry.byteCount)
            }
            count = result == calotype_inflate_complete ? entry.byteCount : 0
        }
        switch result {
        case calotype_inflate_complete: return contents
        case calotype_inflate_short:
            throw .malformed(
                reason: "“\(entry.name)” ends before \(entry.byteCount) bytes",
                offset: entry.offset)
        case calotype_inflate_invalid:
            throw .malformed(
                reason: "“\(entry.name)” is no DEFLATE stream of \(entry.byteCount) bytes",
                offset: entry.offset)
        default: throw .library(message: "zlib: no memory")
        }
    }
}

extension DecodeLimits {
    /// The limits for reading the first bytes of a file of any size.
    fileprivate static var unlimitedFiles: DecodeLimits {
        var limits = DecodeLimits()
        limits.maximumByteCount = .max
        return limits
    }
}
