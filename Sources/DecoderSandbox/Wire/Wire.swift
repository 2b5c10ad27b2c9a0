// SPDX-License-Identifier: Apache-2.0

/// Writes the body of a message: numbers in 8 bytes from the least on, bytes after their count.
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

/// Why the body of a message cannot be understood.
struct WireError: Error, Hashable {
    let reason: String
}

/// Reads the body of a message, and nothing beyond its end.
///
/// What the host reads was written by a process that may be in the hands of a stranger: every count
/// is held against the bytes that are left before anything is made of it.
struct WireReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    private var remaining: Int { bytes.count - position }

    mutating func number() throws(WireError) -> Int {
        guard remaining >= 8 else { throw WireError(reason: "a message that ends early") }
        var number: UInt64 = 0
        for index in 0..<8 { number |= UInt64(bytes[position + index]) << (8 * index) }
        position += 8
        return Int(Int64(bitPattern: number))
    }

    /// A count of things of which each takes at least `byteCount` bytes.
    private mutating func count(of byteCount: Int) throws(WireError) -> Int {
        let count = try number()
        guard count >= 0, count <= remaining / byteCount else {
            throw WireError(reason: "a count beyond the message")
        }
        return count
    }

    mutating func block() throws(WireError) -> [UInt8] {
        let count = try count(of: 1)
        defer { position += count }
        return Array(bytes[position..<position + count])
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

    /// Ends the reading: there must be nothing left.
    func end() throws(WireError) {
        guard remaining == 0 else { throw WireError(reason: "a message that goes on") }
    }
}

/// Something that goes over the wire; it takes at least 8 bytes there.
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
        default: throw WireError(reason: "neither true nor false")
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

/// A choice goes by its place in the list of all.
extension WireValue where Self: CaseIterable & Equatable, AllCases == [Self] {
    func write(to writer: inout WireWriter) {
        // Every case is among all of them.
        writer.write(Self.allCases.firstIndex(of: self) ?? 0)
    }

    init(from reader: inout WireReader) throws(WireError) {
        let place = try reader.number()
        guard Self.allCases.indices.contains(place) else {
            throw WireError(reason: "a choice that there is not")
        }
        self = Self.allCases[place]
    }
}
