// SPDX-License-Identifier: Apache-2.0

/// Writes the body of a message: integers in 8 little-endian bytes, blocks of bytes after their count.
struct WireWriter {
    private(set) var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(512) }

    mutating func write(_ number: Int) {
        unsafe withUnsafeBytes(of: number.littleEndian) { unsafe bytes.append(contentsOf: $0) }
    }

    mutating func write(_ block: [UInt8]) {
        write(block.count)
        bytes.append(contentsOf: block)
    }

    mutating func writeOptional(_ block: [UInt8]?) {
        write(block != nil)
        if let block { write(block) }
    }

    mutating func write(_ value: some WireValue) { value.write(to: &self) }

    mutating func write(_ value: (some WireValue)?) {
        write(value == nil ? 0 : 1)
        if let value { write(value) }
    }

    mutating func write(_ values: [some WireValue]) {
        write(values.count)
        for value in values { write(value) }
    }
}

/// A violation of the protocol between host and worker.
struct WireError: Error, Hashable {
    let reason: String
}

/// Reads the body of a message with bounds checks.
///
/// A worker may be controlled by an attacker: every count is compared with the number of remaining bytes
/// before memory is allocated for it.
struct WireReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    private var remaining: Int { bytes.count - position }

    mutating func number() throws(WireError) -> Int {
        guard remaining >= 8 else { throw WireError(reason: "the message is truncated") }
        var number: UInt64 = 0
        for index in 0..<8 { number |= UInt64(bytes[position + index]) << (8 * index) }
        position += 8
        return Int(Int64(bitPattern: number))
    }

    /// Reads a count of elements of at least `byteCount` bytes each.
    private mutating func count(of byteCount: Int) throws(WireError) -> Int {
        let count = try number()
        guard count >= 0, count <= remaining / byteCount else {
            throw WireError(reason: "a count exceeds the length of the message")
        }
        return count
    }

    mutating func block() throws(WireError) -> [UInt8] {
        let count = try count(of: 1)
        defer { position += count }
        return Array(bytes[position..<position + count])
    }

    mutating func optionalBlock() throws(WireError) -> [UInt8]? {
        try Bool(from: &self) ? try block() : nil
    }

    mutating func value<Value: WireValue>(
        _: Value.Type = Value.self
    ) throws(WireError) -> Value {
        try Value(from: &self)
    }

    mutating func optional<Value: WireValue>(
        _: Value.Type = Value.self
    ) throws(WireError) -> Value? {
        try Bool(from: &self) ? try Value(from: &self) : nil
    }

    mutating func array<Value: WireValue>(
        _: Value.Type = Value.self
    ) throws(WireError) -> [Value] {
        let count = try count(of: 8)
        var values: [Value] = []
        for _ in 0..<count { values.append(try Value(from: &self)) }
        return values
    }

    /// Checks that no bytes remain.
    func end() throws(WireError) {
        guard remaining == 0 else { throw WireError(reason: "bytes follow the message") }
    }
}

/// A value that can be part of a message; its encoding has at least 8 bytes.
protocol WireValue {
    func write(to writer: inout WireWriter)
    init(from reader: inout WireReader) throws(WireError)
}

extension Int: WireValue {
    func write(to writer: inout WireWriter) { writer.write(self) }
    init(from reader: inout WireReader) throws(WireError) { self = try reader.number() }
}

extension Bool: WireValue {
    func write(to writer: inout WireWriter) { writer.write(self ? 1 : 0) }

    init(from reader: inout WireReader) throws(WireError) {
        switch try reader.number() {
        case 0: self = false
        case 1: self = true
        default: throw WireError(reason: "a Boolean is neither 0 nor 1")
        }
    }
}

extension Double: WireValue {
    func write(to writer: inout WireWriter) { writer.write(Int(Int64(bitPattern: bitPattern))) }

    init(from reader: inout WireReader) throws(WireError) {
        self = Double(bitPattern: UInt64(bitPattern: Int64(try reader.number())))
    }
}

extension String: WireValue {
    func write(to writer: inout WireWriter) { writer.write(Array(utf8)) }

    init(from reader: inout WireReader) throws(WireError) {
        self = String(decoding: try reader.block(), as: UTF8.self)
    }
}

/// The encoding of a case is its index in `allCases`.
extension WireValue where Self: CaseIterable & Equatable, AllCases == [Self] {
    func write(to writer: inout WireWriter) {
        writer.write(Self.allCases.firstIndex(of: self) ?? 0)
    }

    init(from reader: inout WireReader) throws(WireError) {
        let place = try reader.number()
        guard Self.allCases.indices.contains(place) else {
            throw WireError(reason: "\(Self.self) has no case \(place)")
        }
        self = Self.allCases[place]
    }
}
