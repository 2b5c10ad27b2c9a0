// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// A value of the Redis serialization protocol, version 2.
enum RedisValue: Hashable, Sendable {
    case text(String)
    case error(String)
    case integer(Int)
    case bytes([UInt8])
    case null
    case array([RedisValue])

    /// Encodes a command: an array of byte strings.
    static func command(_ arguments: [String]) -> ByteBuffer {
        var buffer = ByteBuffer(string: "*\(arguments.count)\r\n")
        for argument in arguments {
            buffer.writeString("$\(argument.utf8.count)\r\n\(argument)\r\n")
        }
        return buffer
    }
}

/// Decodes replies, with limits far above what any command of the server returns.
struct RedisDecoder: NIOSingleStepByteToMessageDecoder {
    typealias InboundOut = RedisValue

    /// The maximum number of bytes of a line, such as an error message.
    private static let maximumLineByteCount = 1_024
    /// The maximum number of bytes of a string.
    static let maximumByteCount = 64 << 10
    private static let maximumElementCount = 16
    private static let maximumDepth = 2
    private static let lineEnd: [UInt8] = [0x0D, 0x0A]

    mutating func decode(buffer: inout ByteBuffer) throws -> RedisValue? {
        var rest = buffer
        guard let value = try Self.value(&rest, depth: 0) else { return nil }
        buffer = rest
        return value
    }

    mutating func decodeLast(buffer: inout ByteBuffer, seenEOF: Bool) throws -> RedisValue? {
        try decode(buffer: &buffer)
    }

    private static func value(
        _ buffer: inout ByteBuffer, depth: Int
    ) throws(RedisError) -> RedisValue? {
        guard let line = try line(&buffer) else { return nil }
        let text = String(decoding: line.dropFirst(), as: UTF8.self)
        switch line.first {
        case UInt8(ascii: "+"): return .text(text)
        case UInt8(ascii: "-"): return .error(text)
        case UInt8(ascii: ":"):
            guard let number = Int(text) else { throw .invalidReply }
            return .integer(number)
        case UInt8(ascii: "$"):
            guard let count = try count(text, atMost: maximumByteCount) else { return .null }
            guard buffer.readableBytes >= count + lineEnd.count else { return nil }
            let bytes = buffer.readBytes(length: count) ?? []
            guard buffer.readBytes(length: lineEnd.count) == lineEnd else { throw .invalidReply }
            return .bytes(bytes)
        case UInt8(ascii: "*"):
            guard depth < maximumDepth else { throw .invalidReply }
            guard let count = try count(text, atMost: maximumElementCount) else { return .null }
            var values: [RedisValue] = []
            for _ in 0..<count {
                guard let value = try value(&buffer, depth: depth + 1) else { return nil }
                values.append(value)
            }
            return .array(values)
        default: throw .invalidReply
        }
    }

    /// Reads a line without its end; returns `nil` if it is incomplete.
    private static func line(_ buffer: inout ByteBuffer) throws(RedisError) -> [UInt8]? {
        let view = buffer.readableBytesView.prefix(maximumLineByteCount)
        guard let end = view.firstIndex(of: 0x0A) else {
            if view.count == maximumLineByteCount { throw .invalidReply }
            return nil
        }
        let line = buffer.readBytes(length: end - view.startIndex + 1) ?? []
        guard line.suffix(2).elementsEqual(lineEnd) else { throw .invalidReply }
        return line.dropLast(2)
    }

    /// Parses a length; returns `nil` for −1, the length of null.
    private static func count(_ text: String, atMost limit: Int) throws(RedisError) -> Int? {
        guard let count = Int(text), -1...limit ~= count else { throw .invalidReply }
        return count < 0 ? nil : count
    }
}
