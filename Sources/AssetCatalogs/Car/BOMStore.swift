// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// The blocks of a BOM store, a file of numbered blocks, some of which have names.
///
/// Integers are big-endian.
struct BOMStore {
    private static let maximumBlockCount = 4_000_000
    private static let maximumNodeByteCount = 1 << 20

    private let indexStart: Int
    private let blockCount: Int
    private var names: [String: Int] = [:]

    static let magic = Array("BOMStore".utf8)

    /// Reads the names.
    ///
    /// - Throws: ``CompiledDamage``.
    init(_ file: Span<UInt8>) throws(CompiledDamage) {
        guard file.count >= 32, Self.magic.indices.allSatisfy({ file[$0] == Self.magic[$0] }) else {
            throw CompiledDamage(reason: "not a BOM store")
        }
        let indexOffset = file.bigEndian(at: 16, byteCount: 4)
        let variables = file.bigEndian(at: 24, byteCount: 4)
        guard let count = file.integer(at: indexOffset, byteCount: 4),
            count <= Self.maximumBlockCount, count * 8 <= file.count - indexOffset - 4
        else { throw CompiledDamage(reason: "the table of blocks lies outside the file") }
        indexStart = indexOffset + 4
        blockCount = count
        guard let nameCount = file.integer(at: variables, byteCount: 4) else {
            throw CompiledDamage(reason: "the names of blocks lie outside the file")
        }
        var offset = variables + 4
        for _ in 0..<min(nameCount, 1_000) {
            guard let block = file.integer(at: offset, byteCount: 4),
                let length = file.integer(at: offset + 4, byteCount: 1),
                length <= file.count - offset - 5
            else { throw CompiledDamage(reason: "the names of blocks lie outside the file") }
            names[file.text(at: offset + 5, byteCount: length)] = block
            offset += 5 + length
        }
    }

    /// The bytes of a block.
    func block(_ file: Span<UInt8>, _ index: Int) throws(CompiledDamage) -> Range<Int> {
        guard index >= 0, index < blockCount else {
            throw CompiledDamage(reason: "no block \(index)")
        }
        let offset = file.bigEndian(at: indexStart + index * 8, byteCount: 4)
        let count = file.bigEndian(at: indexStart + index * 8 + 4, byteCount: 4)
        guard count <= file.count, offset <= file.count - count else {
            throw CompiledDamage(reason: "the block \(index) lies outside the file")
        }
        return offset..<offset + count
    }

    /// The bytes of a block with a name; `nil` if there is none.
    func block(_ file: Span<UInt8>, named name: String) throws(CompiledDamage) -> Range<Int>? {
        guard let index = names[name] else { return nil }
        return try block(file, index)
    }

    /// The keys and values of a tree, in their order; empty if there is no tree of that name.
    ///
    /// Together they have no more bytes than the file, so that reading all of them takes no longer than the
    /// file is long: each has a block of its own.
    ///
    /// - Throws: ``CompiledDamage``.
    func entries(
        _ file: Span<UInt8>, ofTree name: String
    ) throws(CompiledDamage) -> [(key: Range<Int>, value: Range<Int>)] {
        guard let tree = try block(file, named: name) else { return [] }
        guard tree.count >= 16, file.text(at: tree.lowerBound, byteCount: 4) == "tree" else {
            throw CompiledDamage(reason: "\(name) is not a tree")
        }
        var index = file.bigEndian(at: tree.lowerBound + 8, byteCount: 4)
        var entries: [(Range<Int>, Range<Int>)] = []
        var isLeaf = false
        var nodeCount = 0
        var byteCount = 0
        repeat {
            let node = try block(file, index)
            nodeCount += 1
            guard node.count >= 12, node.count <= Self.maximumNodeByteCount, nodeCount <= blockCount
            else { throw CompiledDamage(reason: "invalid node of the tree \(name)") }
            let start = node.lowerBound
            isLeaf = file.bigEndian(at: start, byteCount: 2) != 0
            let count = file.bigEndian(at: start + 2, byteCount: 2)
            guard count * 8 <= node.count - 12, isLeaf || node.count >= 16,
                entries.count + count <= blockCount
            else { throw CompiledDamage(reason: "invalid node of the tree \(name)") }
            guard isLeaf else {
                index = file.bigEndian(at: start + 12, byteCount: 4)
                continue
            }
            for entry in 0..<count {
                let place = start + 12 + entry * 8
                let value = try block(file, file.bigEndian(at: place, byteCount: 4))
                let key = try block(file, file.bigEndian(at: place + 4, byteCount: 4))
                byteCount += key.count + value.count
                guard byteCount <= file.count else {
                    throw CompiledDamage(reason: "entries of the tree \(name) share blocks")
                }
                entries.append((key, value))
            }
            index = file.bigEndian(at: start + 4, byteCount: 4)
        } while !isLeaf || index != 0
        return entries
    }
}
