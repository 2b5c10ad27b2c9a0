// SPDX-License-Identifier: Apache-2.0

internal import CSandbox
internal import EncodedImages
internal import Pixels
internal import Synchronization
internal import Glibc

/// Handles the requests of the host, one at a time.
struct RequestLoop: ~Copyable {
    private let codecs: CodecSet
    private let connection: HostConnection
    private let buffer: MemoryMapping
    private let current: CurrentRequest
    private let cancellation: CancellationFlag
    private let planeCollector = PlaneCollector()
    private var frames: ImageFrames?

    /// The number of the request in progress.
    private final class CurrentRequest: Sendable {
        let number = Atomic<UInt32>(0)
    }

    init(
        codecs: CodecSet, control: ControlPage, buffer: MemoryMapping, connection: HostConnection
    ) {
        self.codecs = codecs
        self.connection = connection
        self.buffer = buffer
        let current = CurrentRequest()
        self.current = current
        cancellation = CancellationFlag(or: {
            control.cancelledRequest == current.number.load(ordering: .relaxed)
        })
    }

    mutating func handleNext() {
        let message = connection.receive()
        current.number.store(message.request, ordering: .relaxed)
        calotype_begin_image()
        connection.send(response(to: message))
    }

    private mutating func response(to message: Message) -> Message {
        var writer = WireWriter()
        let problem: CodecError
        do {
            try perform(message, &writer)
            return Message(.answer, message.request, writer.bytes)
        } catch let error as CodecError {
            problem = error
        } catch let error as WireError {
            problem = .library(message: error.reason)
        } catch {
            problem = .library(message: "\(error)")
        }
        writer = WireWriter()
        writer.write(problem)
        return Message(.failure, message.request, writer.bytes)
    }

    private mutating func perform(_ message: Message, _ writer: inout WireWriter) throws {
        var reader = WireReader(message.body)
        switch message.kind {
        case .convert:
            return try ConversionRequest(message, &reader, buffer: buffer)
                .perform(codecs, &writer)
        case .encode:
            return try EncodeRequest(message, &reader).perform(codecs, &writer, cancellation)
        case .sizes: return try SizesRequest(message, &reader).perform(codecs, &writer)
        default: break
        }
        let request = try DecodeRequest(message, &reader, buffer: buffer)
        switch message.kind {
        case .header:
            let source = try request.source(codecs)
            writer.write(source.format.name)
            writer.write(source.header)
        case .metadata:
            writer.write(try request.source(codecs).metadata())
        case .metadataFields:
            writer.write(try request.source(codecs).metadataFields())
        case .metadataForWriting:
            guard let (policy, changes) = request.rewriting else { break }
            writer.write(try request.source(codecs).metadata(forWriting: policy, changes))
        case .gainMap:
            let map = try request.source(codecs).gainMap()
            writer.write(map?.metadata)
            if let map { writer.writeOptional(map.file) }
        case .jpegTiles:
            let files = try ImageSource.jpegTiles(
                request.tiles, of: request.bytes, page: request.page, codecs: codecs,
                limits: request.limits)
            for file in files { writer.writeOptional(file) }
        case .makeIndex:
            let index = try request.source(codecs).makeIndex(cancellation: cancellation)
            writer.writeOptional(index?.bytes)
        case .image:
            let decoded = try request.source(codecs).decodedImage(
                request.options, cancellation: cancellation)
            try request.memory?.write(decoded.image, &writer)
            writer.write(decoded.report)
        case .images:
            try writeImages(request, &writer)
        case .preview:
            try writePreview(request, &writer)
        case .rows:
            let sender = BandSender(connection, message.request)
            writer.write(
                try request.source(codecs).decodeRows(
                    request.options, into: sender, cancellation: cancellation))
            try sender.finish()
        case .frames:
            frames = try request.source(codecs).frames(
                request.options, cancellation: cancellation)
        case .nextFrame:
            try writeNextFrame(request.memory, &writer)
        default:
            throw WireError(reason: "the request is of an unknown kind")
        }
    }

    private func writeImages(_ request: DecodeRequest, _ writer: inout WireWriter) throws {
        let decoded = try request.source(codecs).decodedSizes(
            [request.options] + request.furtherOptions,
            planesByteCount: request.planesByteCount, planeCollector,
            cancellation: cancellation)
        for decoded in decoded.images {
            writer.write(decoded != nil)
            guard let decoded else { continue }
            try request.memory?.write(decoded.image, &writer)
            writer.write(decoded.report)
        }
        let planes = decoded.reduced?.planes
        writer.write(planes != nil)
        if let planes { try request.memory?.write(planes, &writer) }
    }

    private func writePreview(_ request: DecodeRequest, _ writer: inout WireWriter) throws {
        let preview = try request.preview(codecs, cancellation)
        writer.write(preview != nil)
        guard let preview else { return }
        try request.memory?.write(preview.image, &writer)
        writer.write(preview.completeness)
    }

    private mutating func writeNextFrame(
        _ memory: SharedPixels?, _ writer: inout WireWriter
    ) throws {
        guard var frames = frames.take() else {
            throw WireError(reason: "a frame was requested before its animation")
        }
        let frame = try frames.next()
        self.frames = consume frames
        writer.write(frame != nil)
        guard let frame else { return }
        try memory?.write(frame.image, &writer)
        writer.write(frame.duration)
        writer.write(frame.region)
        writer.write(frame.disposal)
        writer.write(frame.blending)
    }
}

/// Sends the rows of an image to the host in bands, through shared memory.
private final class BandSender: RowConsumer {
    private let connection: HostConnection
    private let request: UInt32
    private var mapping: MemoryMapping?
    private var rowByteCount = 0
    /// The number of rows that the memory holds, and of those in it.
    private var capacity = 0
    private var count = 0

    init(_ connection: HostConnection, _ request: UInt32) {
        self.connection = connection
        self.request = request
    }

    func begin(
        _ size: PixelSize, _ format: PixelFormat, _ colorProfile: ColorProfile
    ) throws(CodecError) {
        var writer = WireWriter()
        writer.write(size)
        writer.write(format)
        writer.write(colorProfile)
        connection.send(Message(.rowsBegin, request, writer.bytes))
        let message = connection.receive()
        rowByteCount = size.width * format.bytesPerPixel
        var reader = WireReader(message.body)
        guard message.kind == .proceed, let capacity = try? reader.number(), capacity > 0,
            let descriptor = message.descriptors.first,
            let mapping = MemoryMapping(
                descriptor, byteCount: capacity * rowByteCount, isWritable: true)
        else { throw .library(message: "the host sent no memory for rows") }
        close(descriptor)
        self.mapping = mapping
        self.capacity = capacity
    }

    func append(_ row: Span<UInt8>) throws(CodecError) {
        mapping?.write(row, at: count * rowByteCount)
        count += 1
        if count == capacity { try finish() }
    }

    /// Sends the rows in the memory.
    func finish() throws(CodecError) {
        guard count > 0 else { return }
        var writer = WireWriter()
        writer.write(count)
        count = 0
        connection.send(Message(.band, request, writer.bytes))
        guard connection.receive().kind == .proceed else { throw .cancelled }
    }
}
