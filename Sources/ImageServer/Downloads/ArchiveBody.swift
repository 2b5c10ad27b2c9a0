// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import ImageLoading
internal import NIOCore
internal import Synchronization

/// The positions of the files of an archive of originals.
struct ArchiveLayout: Sendable {
    let entries: [ZipArchive.Entry]
    /// The positions of the local headers, and of the directory.
    let offsets: [Int]
    let byteCount: Int

    init(_ files: [Downloads.Selection.File]) {
        entries = files.map {
            ZipArchive.Entry(
                name: $0.name, byteCount: $0.identity.byteCount,
                modificationTime: $0.identity.modificationTime)
        }
        var offsets = [0]
        for entry in entries {
            let last = offsets[offsets.count - 1]
            offsets.append(last + ZipArchive.localHeaderByteCount(entry) + entry.byteCount)
        }
        self.offsets = offsets
        let start = offsets[entries.count]
        byteCount = start + ZipArchive.directory(entries, offsets: offsets, start: start).count
    }

    var directoryOffset: Int { offsets[entries.count] }
}

/// The pieces of a range of the archive of originals.
///
/// Nothing has to be kept between two requests for parts of an archive: the positions follow from the sizes,
/// and the checksums from the files.
struct OriginalPieces: AsyncIteratorProtocol, Sendable {
    let selection: Downloads.Selection
    let layout: ArchiveLayout
    let stream: OutgoingBytes.Stream
    /// The rest of the range.
    private var rest: Range<Int>
    /// The file that is being sent, and its index.
    private var open: (index: Int, file: OriginalFile)?

    init(
        _ selection: Downloads.Selection, _ layout: ArchiveLayout, _ range: Range<Int>,
        _ stream: OutgoingBytes.Stream
    ) {
        self.selection = selection
        self.layout = layout
        self.stream = stream
        rest = range
    }

    mutating func next() async throws -> ByteBuffer? {
        guard let position = rest.first else { return nil }
        let bytes: ByteBuffer
        if position >= layout.directoryOffset {
            bytes = part(of: try await directory(), at: layout.directoryOffset)
        } else {
            bytes = try await piece(ofFile: index(at: position), at: position)
        }
        rest = rest.dropFirst(bytes.readableBytes)
        return bytes
    }

    /// The index of the file whose header or bytes contain a position.
    private func index(at position: Int) -> Int {
        var (low, high) = (0, layout.entries.count - 1)
        while low < high {
            let middle = (low + high + 1) / 2
            if layout.offsets[middle] <= position { low = middle } else { high = middle - 1 }
        }
        return low
    }

    private mutating func piece(ofFile index: Int, at position: Int) async throws -> ByteBuffer {
        let start = layout.offsets[index] + ZipArchive.localHeaderByteCount(layout.entries[index])
        let file = try await file(index)
        guard position >= start else {
            var entry = layout.entries[index]
            entry.checksum = try await checksum(index)
            return part(of: ZipArchive.localHeader(entry), at: layout.offsets[index])
        }
        let end = min(layout.offsets[index + 1], rest.upperBound)
        return try await file.piece(of: position - start..<end - start, stream)
    }

    /// The part of a record at an offset that is to be sent.
    private func part(of record: [UInt8], at offset: Int) -> ByteBuffer {
        let part = rest.clamped(to: offset..<offset + record.count)
        return ByteBuffer(bytes: record[part.lowerBound - offset..<part.upperBound - offset])
    }

    private mutating func directory() async throws -> [UInt8] {
        var entries = layout.entries
        for index in entries.indices { entries[index].checksum = try await checksum(index) }
        return ZipArchive.directory(
            entries, offsets: layout.offsets, start: layout.directoryOffset)
    }

    private mutating func checksum(_ index: Int) async throws -> UInt32 {
        if let known = selection.checksums.withLock({ $0[index] }) { return known }
        let file = try await file(index)
        var checksum = CRC32()
        var rest = 0..<selection.files[index].identity.byteCount
        while !rest.isEmpty {
            try Task.checkCancellation()
            let bytes = try await file.piece(of: rest, stream)
            rest = rest.dropFirst(bytes.readableBytes)
            checksum.combine(Array(bytes.readableBytesView).span)
        }
        let value = checksum.value
        selection.checksums.withLock { $0[index] = value }
        return value
    }

    private mutating func file(_ index: Int) async throws -> OriginalFile {
        if let open, open.index == index { return open.file }
        let identity = selection.files[index].identity
        let file = try await onDisk { try OriginalFile(identity) }
        open = (index, file)
        return file
    }
}

/// The pieces of an archive of renditions or sidecars, each of which is made when it is due.
struct MadePieces: AsyncIteratorProtocol, Sendable {
    typealias Made = (bytes: [UInt8], fileExtension: String)

    let selection: Downloads.Selection
    /// Counts the archive until it has been sent.
    let stream: OutgoingBytes.Stream
    /// Makes a file; `nil` for an image that cannot be read, which the archive does not contain.
    let make: @Sendable (Downloads.Selection.File) async throws -> Made?
    private var next = 0
    private var entries: [ZipArchive.Entry] = []
    private var offsets: [Int] = []
    private var position = 0
    private var names: Set<String> = []

    init(
        _ selection: Downloads.Selection, _ stream: OutgoingBytes.Stream,
        make: @escaping @Sendable (Downloads.Selection.File) async throws -> Made?
    ) {
        self.selection = selection
        self.stream = stream
        self.make = make
    }

    mutating func next() async throws -> ByteBuffer? {
        while next < selection.files.count {
            let file = selection.files[next]
            next += 1
            guard let made = try await make(file) else { continue }
            return append(made, file)
        }
        guard next == selection.files.count else { return nil }
        next += 1
        return ByteBuffer(
            bytes: ZipArchive.directory(entries, offsets: offsets, start: position))
    }

    private mutating func append(_ made: Made, _ file: Downloads.Selection.File) -> ByteBuffer {
        var checksum = CRC32()
        checksum.combine(made.bytes.span)
        let entry = ZipArchive.Entry(
            name: name(file.name, made.fileExtension), byteCount: made.bytes.count,
            modificationTime: file.identity.modificationTime, checksum: checksum.value)
        var bytes = ByteBuffer(bytes: ZipArchive.localHeader(entry))
        bytes.writeBytes(made.bytes)
        entries.append(entry)
        offsets.append(position)
        position += bytes.readableBytes
        return bytes
    }

    /// A name with the extension of another format, which differs from all before it.
    private mutating func name(_ name: String, _ fileExtension: String) -> String {
        let slash = name.utf8.lastIndex(of: UInt8(ascii: "/")) ?? name.startIndex
        let dot = name.utf8[slash...].lastIndex(of: UInt8(ascii: "."))
        let stem = String(name[..<(dot ?? name.endIndex)])
        var unique = "\(stem).\(fileExtension)"
        var number = 2
        while !names.insert(unique).inserted {
            unique = "\(stem)-\(number).\(fileExtension)"
            number += 1
        }
        return unique
    }
}
