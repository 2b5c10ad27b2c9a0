// SPDX-License-Identifier: Apache-2.0

internal import CSandbox
internal import EncodedImages
internal import Pixels
internal import Glibc

/// Receives the rows of an image from a worker in bands, through shared memory.
final class BandReceiver {
    private let consumer: any RowConsumer
    private let limits: DecodeLimits
    private var mapping: MemoryMapping?
    private var row: [UInt8] = []
    private var capacity = 0
    private var missingCount = 0

    /// Large enough that the cost of messages is negligible beside that of the decode.
    private static let bandByteCount = 1 << 20

    init(_ consumer: any RowConsumer, _ limits: DecodeLimits) {
        self.consumer = consumer
        self.limits = limits
    }

    /// Handles a message of the worker and returns the reply.
    func receive(
        _ message: Message
    ) throws(Worker.Failure) -> (body: [UInt8], descriptor: SharedDescriptor?) {
        var reader = WireReader(message.body)
        do {
            if message.kind == .rowsBegin { return try begin(&reader) }
            try append(&reader)
            return ([], nil)
        } catch let error as WireError {
            throw .stopped(.nonsense(reason: error.reason))
        } catch let error as CodecError {
            // The worker waits for a reply that is never sent.
            throw .abandoned(error)
        } catch {
            throw .stopped(.nonsense(reason: "\(error)"))
        }
    }

    private func begin(
        _ reader: inout WireReader
    ) throws -> (body: [UInt8], descriptor: SharedDescriptor?) {
        let size = try PixelSize(imageFrom: &reader)
        let format = try reader.value(PixelFormat.self)
        let profile = try reader.value(ColorProfile.self)
        guard mapping == nil, format.planeCount == 1 else {
            throw WireError(reason: "rows in a planar format, or a second start of rows")
        }
        try limits.check(size)
        try consumer.begin(size, format, profile)
        row = Array(repeating: 0, count: size.width * format.bytesPerPixel)
        missingCount = size.height
        capacity = min(size.height, max(1, Self.bandByteCount / row.count))
        guard let shared = SharedDescriptor(byteCount: capacity * row.count),
            let mapping = MemoryMapping(shared.number, byteCount: capacity * row.count)
        else {
            throw CodecError.sandboxUnavailable(reason: "no shared memory for rows")
        }
        self.mapping = mapping
        var writer = WireWriter()
        writer.write(capacity)
        return (writer.bytes, shared)
    }

    private func append(_ reader: inout WireReader) throws {
        let count = try reader.number()
        guard let mapping, 0 < count, count <= capacity, count <= missingCount else {
            throw WireError(reason: "more rows than the image has")
        }
        missingCount -= count
        var row: [UInt8] = []
        swap(&row, &self.row)
        defer { swap(&row, &self.row) }
        for index in 0..<count {
            // A copy, because the worker can still write to the shared memory.
            mapping.read(&row, at: index * row.count)
            try consumer.append(row.span)
        }
    }
}
