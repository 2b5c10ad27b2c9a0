// SPDX-License-Identifier: Apache-2.0

internal import CSandbox
public import EncodedImages
public import Pixels
internal import Glibc

extension DecoderSandbox: RemoteDecoder {
    public func convertedToSRGB(
        _ image: consuming PixelBuffer
    ) throws(CodecError) -> PixelBuffer { try converted(image, isExtended: false) }

    public func convertedToExtendedSRGB(
        _ image: consuming PixelBuffer
    ) throws(CodecError) -> PixelBuffer { try converted(image, isExtended: true) }

    /// Converts in a worker: the colour profile is untrusted input, like the file that contains it.
    private func converted(
        _ image: PixelBuffer, isExtended: Bool
    ) throws(CodecError) -> PixelBuffer {
        let shared = try prepare(EncodedBytes(ConversionRequest.sharedBytes(of: image)))
        let byteCount = PixelBuffer.byteCount(of: image.size, .rgba16)
        let body = ConversionRequest.body(
            of: image, isExtended: isExtended, sharedByteCount: shared.count,
            resultByteCount: byteCount)
        let request = WorkerRequest(
            .convert, RemoteImage(shared, limits: DecodeLimits()), byteCount: byteCount,
            body: body)
        return try perform(decodes, for: .convertColors, request) {
            (reader, memory) throws(WireError) in
            let converted = try memory.image(&reader)
            guard converted.size == image.size else {
                throw WireError(reason: "the converted image has another size")
            }
            return converted
        }
    }

    public func prepare(_ bytes: EncodedBytes) throws(CodecError) -> EncodedBytes {
        // A mapped file has a descriptor, which can be sent as it is.
        guard bytes.descriptor == nil, bytes.count > 0 else { return bytes }
        guard var memory = SharedBytes(),
            bytes.withBytes({ memory.append($0) }), let copy = memory.finish()
        else {
            throw .sandboxUnavailable(reason: "no shared memory for \(bytes.count) bytes")
        }
        return copy
    }

    public func snapshot(_ bytes: EncodedBytes) throws(CodecError) -> EncodedBytes {
        guard let file = bytes.descriptor else { return try prepare(bytes) }
        let copy = calotype_shared_copy_of_file(file, bytes.count)
        guard copy >= 0 else {
            // ENODATA: the file has become shorter.
            throw copy == -ENODATA
                ? .fileChanged
                : .sandboxUnavailable(reason: "no shared memory for \(bytes.count) bytes")
        }
        let snapshot = try EncodedBytes(
            descriptor: copy, byteCount: bytes.count, isMapped: false)
        try bytes.checkUnchanged()
        return snapshot
    }

    public func header(
        of image: RemoteImage
    ) throws(CodecError) -> (format: String, header: ImageHeader) {
        try inspect(.header, image, Self.maximumHeaderByteCount(image.limits)) {
            reader throws(WireError) in
            let format = try reader.value(String.self)
            let header = try reader.value(ImageHeader.self)
            if let end = header.thumbnail?.upperBound, end > image.bytes.count {
                throw WireError(reason: "the thumbnail lies beyond the end of the file")
            }
            return (format, header)
        }
    }

    public func metadata(of image: RemoteImage) throws(CodecError) -> MetadataBlocks {
        try inspect(.metadata, image, Self.maximumBlocksByteCount(image.limits)) {
            reader throws(WireError) in try reader.value()
        }
    }

    public func metadataFields(of image: RemoteImage) throws(CodecError) -> MetadataFields {
        try inspect(.metadataFields, image, MetadataFields.maximumByteCount) {
            reader throws(WireError) in try reader.value()
        }
    }

    public func metadata(
        of image: RemoteImage, forWriting policy: MetadataPolicy, _ changes: ImageChanges
    ) throws(CodecError) -> MetadataBlocks {
        var body = WireWriter()
        body.write(policy)
        body.write(changes)
        return try inspect(
            .metadataForWriting, image, Self.maximumBlocksByteCount(image.limits),
            appending: body.bytes
        ) { reader throws(WireError) in try reader.value() }
    }

    public func gainMap(of image: RemoteImage) throws(CodecError) -> GainMap? {
        try inspect(.gainMap, image, Self.maximumBlocksByteCount(image.limits)) {
            reader throws(WireError) in
            guard let metadata = try reader.optional(GainMapMetadata.self) else { return nil }
            return GainMap(metadata, file: try reader.optionalBlock() ?? [])
        }
    }

    public func jpegTiles(
        _ tiles: [StoredTile], of image: RemoteImage
    ) throws(CodecError) -> [[UInt8]?] {
        var body = WireWriter()
        body.write(tiles)
        return try inspect(
            .jpegTiles, image, tiles.count * (StoredTile.maximumByteCount + 1024),
            appending: body.bytes
        ) { reader throws(WireError) in
            var files: [[UInt8]?] = []
            for _ in tiles { files.append(try reader.optionalBlock()) }
            return files
        }
    }

    public func makeIndex(
        of image: RemoteImage, maximumByteCount: Int, cancellation: CancellationFlag?
    ) throws(CodecError) -> ImageIndex? {
        let request = WorkerRequest(
            .makeIndex, image, byteCount: nil,
            body: DecodeRequest.body(workerImage(image), DecodeOptions(), byteCount: nil),
            maximumResponseByteCount: maximumByteCount + 1024, cancellation: cancellation)
        return try perform(decodes, for: .decode(image.bytes), request) {
            (reader, _) throws(WireError) in
            guard let bytes = try reader.optionalBlock() else { return nil }
            do throws(CodecError) {
                return try ImageIndex(bytes: bytes)
            } catch {
                throw WireError(reason: "\(error)")
            }
        }
    }

    public func image(
        of image: RemoteImage, _ options: DecodeOptions, byteCount: Int,
        cancellation: CancellationFlag?
    ) throws(CodecError) -> DecodedImage {
        let request = decodeRequest(.image, image, options, byteCount, cancellation)
        return try perform(decodes, for: .decode(image.bytes), request) {
            (reader, memory) throws(WireError) in
            DecodedImage(image: try memory.image(&reader), report: try reader.value())
        }
    }

    public func images(
        of image: RemoteImage, _ options: [DecodeOptions], byteCounts: [Int],
        planesByteCount: Int, cancellation: CancellationFlag?
    ) throws(CodecError) -> (images: [DecodedImage?], planes: ReducedPlanes?) {
        let resultByteCount = byteCounts.reduce(0, +)
        // Planes are received in the buffer of the worker, where they cost no more than a copy.
        let planesByteCount = max(
            0, min(planesByteCount, ControlPage.bufferByteCount - resultByteCount))
        if options.count == 1, planesByteCount == 0 {
            let only = try self.image(
                of: image, options[0], byteCount: resultByteCount, cancellation: cancellation)
            return ([only], nil)
        }
        let byteCount = resultByteCount + planesByteCount
        let request = decodeRequest(
            .images, image, options[0], byteCount, cancellation,
            furtherOptions: Array(options.dropFirst()), planesByteCount: planesByteCount)
        return try perform(decodes, for: .decode(image.bytes), request) {
            (reader, memory) throws(WireError) in
            var images: [DecodedImage?] = []
            for _ in options {
                guard try reader.value(Bool.self) else {
                    images.append(nil)
                    continue
                }
                images.append(
                    DecodedImage(
                        image: try memory.image(&reader, isOnly: false),
                        report: try reader.value()))
            }
            guard images[0] != nil else { throw WireError(reason: "the first image is missing") }
            return (images, try memory.planes(&reader))
        }
    }

    public func preview(
        of image: RemoteImage, _ options: DecodeOptions, byteCount: Int,
        cancellation: CancellationFlag?
    ) throws(CodecError) -> ImagePreview? {
        // A preview needs a copy of the file.
        guard image.bytes.count <= configuration.memoryByteCount / 4 else { return nil }
        let request = decodeRequest(.preview, image, options, byteCount, cancellation)
        return try perform(decodes, for: .decode(image.bytes), request) {
            (reader, memory) throws(WireError) in
            guard try reader.value(Bool.self) else { return nil }
            return ImagePreview(
                image: try memory.image(&reader), completeness: try reader.value())
        }
    }

    public func rows(
        of image: RemoteImage, _ options: DecodeOptions, into consumer: any RowConsumer,
        cancellation: CancellationFlag?
    ) throws(CodecError) -> DecodeReport {
        let receiver = BandReceiver(consumer, image.limits)
        var request = decodeRequest(.rows, image, options, nil, cancellation)
        request.proceed = { message throws(Worker.Failure) in try receiver.receive(message) }
        return try perform(decodes, for: .decode(image.bytes), request) {
            (reader, _) throws(WireError) in try reader.value()
        }
    }

    public func frames(
        of image: RemoteImage, _ options: DecodeOptions, byteCount: Int,
        cancellation: CancellationFlag?
    ) throws(CodecError) -> any RemoteFrames {
        let frames = SandboxedFrames(
            decodeRequest(.frames, image, options, nil, cancellation),
            decodeRequest(.nextFrame, image, DecodeOptions(), byteCount, cancellation), in: self)
        try frames.begin()
        return frames
    }

    public func encode(
        _ image: PixelBuffer, as format: String, _ options: EncodeOptions,
        cancellation: CancellationFlag?
    ) throws(CodecError) -> [UInt8] {
        let bytes = EncodeRequest.sharedBytes(of: image, options)
        let shared = try prepare(EncodedBytes(bytes))
        let request = WorkerRequest(
            .encode, RemoteImage(shared, limits: DecodeLimits()), byteCount: nil,
            body: EncodeRequest.body(of: image, format, options, sharedByteCount: shared.count),
            // No encoder produces more than twice the bytes of the pixels.
            maximumResponseByteCount: 2 * shared.count + (1 << 20), cancellation: cancellation)
        return try perform(encodes, for: .encode(format: format), request) {
            (reader, _) throws(WireError) in try reader.block()
        }
    }

    private func decodeRequest(
        _ kind: Message.Kind, _ image: RemoteImage, _ options: DecodeOptions,
        _ byteCount: Int?, _ cancellation: CancellationFlag?,
        furtherOptions: [DecodeOptions] = [], planesByteCount: Int = 0
    ) -> WorkerRequest {
        // Each result may have a colour profile.
        let (responseByteCount, overflows) = Self.maximumHeaderByteCount(image.limits)
            .multipliedReportingOverflow(by: 1 + furtherOptions.count)
        return WorkerRequest(
            kind, image, byteCount: byteCount,
            body: DecodeRequest.body(
                workerImage(image), options, furtherOptions, planesByteCount: planesByteCount,
                byteCount: byteCount),
            maximumResponseByteCount: overflows ? .max : responseByteCount,
            cancellation: cancellation)
    }

    /// Reads a header or metadata in an inspection worker.
    private func inspect<Response>(
        _ kind: Message.Kind, _ image: RemoteImage, _ maximumResponseByteCount: Int,
        appending more: [UInt8] = [], _ read: (inout WireReader) throws(WireError) -> Response
    ) throws(CodecError) -> Response {
        let body = DecodeRequest.body(
            workerImage(image), DecodeOptions(), byteCount: nil)
        let request = WorkerRequest(
            kind, image, byteCount: nil, body: body + more,
            maximumResponseByteCount: maximumResponseByteCount)
        let identity = request.identity
        try inspections.enter(identity, nil)
        defer { inspections.leave(identity) }
        return try perform(inspections, for: .decode(image.bytes), request) {
            (reader, _) throws(WireError) in try read(&reader)
        }
    }

    /// Returns the request's image with limits that a worker can satisfy.
    func workerImage(_ image: RemoteImage) -> RemoteImage {
        var image = image
        image.limits.maximumMemoryByteCount = min(
            image.limits.maximumMemoryByteCount, configuration.maximumResultByteCount)
        return image
    }

    /// Returns the maximum size of a header, most of which is a colour profile, in bytes.
    private static func maximumHeaderByteCount(_ limits: DecodeLimits) -> Int {
        limits.maximumProfileByteCount.addingReportingOverflow(1 << 20).partialValue
    }

    /// Returns the maximum size of the three metadata blocks, in bytes.
    private static func maximumBlocksByteCount(_ limits: DecodeLimits) -> Int {
        limits.maximumMetadataByteCount.multipliedReportingOverflow(by: 3).partialValue
            &+ (1 << 10)
    }
}
