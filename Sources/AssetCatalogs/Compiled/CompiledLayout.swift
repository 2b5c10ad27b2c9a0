// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// Why a compiled file cannot be used; the caller adds the name of the file.
struct CompiledDamage: Error {
    let reason: String
}

/// The layout of a compiled file: a header, tables of records of fixed sizes, and blobs.
///
/// All integers are little-endian. `Documentation/assets-format.md` describes the file.
struct CompiledLayout {
    /// A table, in the order of the file.
    enum Table: Int, CaseIterable {
        case buckets, places, assets, slots, rasters, traits, extras, details, colors, blobs
        case stringEnds, strings

        /// The size of a record in bytes.
        var stride: Int {
            switch self {
            case .buckets, .places, .stringEnds: 4
            case .assets: 32
            case .slots: 20
            case .rasters: 8
            case .traits: 56
            case .extras: 16
            case .details: 96
            case .colors: 40
            case .blobs: 32
            case .strings: 1
            }
        }
    }

    static let magic: [UInt8] = [0x89] + "ASSETS\n".utf8
    static let version = 1
    static let headerByteCount = 128
    /// An index or a value that is absent.
    static let none = 0xFFFF_FFFF
    static let blobAlignment = 64
    /// Enough for a name in the deepest group; records share strings.
    static let maximumStringByteCount = 8_192

    /// The number of records of each table.
    private(set) var counts = InlineArray<12, Int>(repeating: 0)
    /// The offset of each table.
    private(set) var offsets = InlineArray<12, Int>(repeating: 0)
    /// The offset of the first blob.
    private(set) var blobStart = 0
    /// The seed of the hash of names.
    private(set) var seed: UInt64 = 0

    /// The layout of tables with numbers of records.
    init(counts: [Int], seed: UInt64) {
        self.seed = seed
        var offset = Self.headerByteCount
        for table in Table.allCases {
            self.counts[table.rawValue] = counts[table.rawValue]
            offsets[table.rawValue] = offset
            offset += Self.aligned(counts[table.rawValue] * table.stride)
        }
        blobStart = offset
    }

    /// Reads the header.
    ///
    /// - Throws: ``CompiledDamage`` if the tables exceed the file.
    init(_ file: Span<UInt8>) throws(CompiledDamage) {
        guard file.count >= Self.headerByteCount,
            Self.magic.indices.allSatisfy({ file[$0] == Self.magic[$0] })
        else { throw CompiledDamage(reason: "not a compiled asset catalog") }
        let version = file.littleEndian(at: 8, byteCount: 4)
        guard version == Self.version else {
            throw CompiledDamage(
                reason: "unsupported version \(version); this program reads \(Self.version)")
        }
        let byteCount = file.littleEndian(at: 16, byteCount: 8)
        guard byteCount == file.count else {
            throw CompiledDamage(reason: "the file has \(file.count) bytes instead of \(byteCount)")
        }
        // 12 counts of 32 bits: neither products nor sums overflow.
        self.init(
            counts: Table.allCases.map {
                file.littleEndian(at: 32 + $0.rawValue * 4, byteCount: 4)
            }, seed: UInt64(bitPattern: Int64(file.littleEndian(at: 24, byteCount: 8))))
        guard blobStart <= file.count else {
            throw CompiledDamage(reason: "the tables end after the file")
        }
        guard count(.buckets) > 0, count(.places) > 0 else {
            throw CompiledDamage(reason: "an empty table of names")
        }
    }

    /// Returns the header of a file.
    func header(byteCount: Int) -> [UInt8] {
        var header = Self.magic
        header.append(Self.version, byteCount: 4, .littleEndian)
        header.append(0, byteCount: 4, .littleEndian)
        header.append(byteCount, byteCount: 8, .littleEndian)
        header.append(Int(Int64(bitPattern: seed)), byteCount: 8, .littleEndian)
        for table in Table.allCases { header.append(count(table), byteCount: 4, .littleEndian) }
        return header + [UInt8](repeating: 0, count: Self.headerByteCount - header.count)
    }

    /// Rounds up to the alignment of tables and pixels.
    static func aligned(_ count: Int) -> Int {
        (count + blobAlignment - 1) / blobAlignment * blobAlignment
    }

    /// The memory of the descriptions of all assets without their strings.
    var describedByteCount: Int {
        count(.assets) * MemoryLayout<Asset>.stride + count(.slots) * MemoryLayout<AssetSlot>.stride
    }

    /// The number of records of a table.
    func count(_ table: Table) -> Int { counts[table.rawValue] }

    /// Returns the offset of a record.
    ///
    /// - Throws: ``CompiledDamage`` if the table does not contain it.
    @inline(__always)
    func offset(_ table: Table, _ index: Int) throws(CompiledDamage) -> Int {
        guard index >= 0, index < counts[table.rawValue] else {
            throw CompiledDamage(reason: "no record \(index) of the table \(table)")
        }
        return offsets[table.rawValue] + index * table.stride
    }

    /// Returns a range of records.
    ///
    /// - Throws: ``CompiledDamage`` if the table does not contain it.
    @inline(__always)
    func range(
        _ table: Table, first: Int, count: Int
    ) throws(CompiledDamage) -> Range<Int> {
        guard count <= self.count(table), first <= self.count(table) - count else {
            throw CompiledDamage(reason: "no records \(first) and \(count) more of \(table)")
        }
        return first..<first + count
    }
}

extension Span<UInt8> {
    /// Returns a 32-bit field of a record whose offset was checked.
    @inline(__always)
    func field(_ record: Int, _ index: Int) -> Int {
        let offset = record + index * 4
        // The last byte first, so that one comparison checks all of them.
        let highest = Int(self[offset + 3]) << 24
        return highest | Int(self[offset]) | Int(self[offset + 1]) << 8 | Int(self[offset + 2])
            << 16
    }

    /// Returns a 32-bit field; `nil` if the value is absent.
    func optionalField(_ record: Int, _ index: Int) -> Int? {
        let value = field(record, index)
        return value == CompiledLayout.none ? nil : value
    }

    /// Returns a 64-bit float.
    ///
    /// - Throws: ``CompiledDamage`` if it is not finite.
    func number(at offset: Int) throws(CompiledDamage) -> Double {
        let bits = UInt64(bitPattern: Int64(littleEndian(at: offset, byteCount: 8)))
        let value = Double(bitPattern: bits)
        guard value.isFinite else { throw CompiledDamage(reason: "a number that is not finite") }
        return value
    }
}
