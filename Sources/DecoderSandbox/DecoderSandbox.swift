// SPDX-License-Identifier: Apache-2.0

internal import CSandbox
public import EncodedImages
public import Pixels
#if canImport(Glibc)
    internal import Glibc
#endif

/// Decodes pictures in processes that can do nothing else.
///
/// A worker that crashes, hangs or does what it must not takes one picture with it and nothing else.
/// Workers are started ahead of need and kept: a decode costs what it costs in this process, and some
/// wake-ups.
public final class DecoderSandbox: Sendable {
    public struct Configuration: Sendable {
        /// The program whose only work is ``SandboxWorker/run(codecs:)``.
        public var workerPath: String
        /// How many pictures are decoded at the same time.
        public var workerCount: Int
        /// How many animations are read at the same time.
        public var animationCount: Int
        /// After how many pictures a worker makes way for a new one.
        public var maximumPictureCount = 1000
        /// How long one picture may take, in seconds; the worker is killed then.
        public var deadlineSeconds = 30.0
        /// Bytes of address space that a worker may use beyond what it starts with.
        public var memoryByteCount = 4 << 30
        /// What must hold; nothing is decoded where the system does not permit it.
        public var requiredLayers = SandboxLayer.essential
        /// How long a file is refused that stopped a worker, in seconds.
        public var quarantineSeconds = 600.0

        /// - Parameters:
        ///   - workerPath: where the program is.
        ///   - workerCount: how many pictures are decoded at the same time.
        public init(workerPath: String, workerCount: Int) {
            self.workerPath = workerPath
            self.workerCount = workerCount
            animationCount = workerCount
        }
    }

    private let configuration: Configuration
    private let quarantine: Quarantine
    /// For headers and metadata, which are quick and are asked for by many.
    private let inspections: WorkerLane
    private let decodes: WorkerLane
    /// For animations, which keep their worker from frame to frame.
    private let animations: WorkerLane

    public init(_ configuration: Configuration) {
        precondition(configuration.workerCount > 0, "a sandbox needs a worker")
        self.configuration = configuration
        quarantine = Quarantine(.seconds(configuration.quarantineSeconds))
        let start = { @Sendable () throws(CodecError) in try Worker(configuration) }
        inspections = WorkerLane(count: 1, start: start)
        decodes = WorkerLane(count: configuration.workerCount, start: start)
        animations = WorkerLane(
            count: configuration.animationCount, startsAhead: false, start: start)
    }

    deinit { close() }

    /// Ends all workers; what is asked for afterwards is refused.
    public func close() {
        inspections.close()
        decodes.close()
        animations.close()
    }

    /// Waits until a worker is there.
    ///
    /// - Returns: what keeps it from doing anything but decoding.
    /// - Throws: ``CodecError/sandboxUnavailable(reason:)``.
    public func layers() throws(CodecError) -> Set<SandboxLayer> {
        let worker = try inspections.take(nil)
        inspections.giveBack(worker)
        return worker.layers
    }
}

// MARK: Requests

extension DecoderSandbox: RemoteDecoder {
    public func convertedToSRGB(
        _ image: consuming PixelBuffer
    ) throws(CodecError) -> PixelBuffer { try converted(image, isExtended: false) }

    public func convertedToExtendedSRGB(
        _ image: consuming PixelBuffer
    ) throws(CodecError) -> PixelBuffer { try converted(image, isExtended: true) }

    /// The profile is a stranger's too, and what reads it as old as any decoder.
    private func converted(
        _ image: PixelBuffer, isExtended: Bool
    ) throws(CodecError) -> PixelBuffer {
        let shared = try prepare(EncodedBytes(ConversionRequest.sharedBytes(of: image)))
        let byteCount = PixelBuffer.byteCount(of: image.size, .rgba16)
        let body = ConversionRequest.body(
            of: image, isExtended: isExtended, sharedByteCount: shared.count,
            resultByteCount: byteCount)
        return try ask(
            decodes, .convert, RemotePicture(shared, limits: DecodeLimits()), DecodeOptions(),
            byteCount, nil, body: body
        ) { (reader, memory) throws(WireError) in
            let converted = try memory.image(&reader)
            guard converted.size == image.size else {
                throw WireError(reason: "a conversion of another size")
            }
            return converted
        }
    }

    public func prepare(_ bytes: EncodedBytes) throws(CodecError) -> EncodedBytes {
        // What is mapped is open, and can be handed over as it is.
        guard bytes.descriptor == nil, bytes.count > 0 else { return bytes }
        let descriptor = bytes.withBytes { bytes in
            unsafe bytes.withUnsafeBytes {
                unsafe calotype_shared_copy($0.baseAddress, $0.count)
            }
        }
        guard descriptor >= 0 else {
            throw .sandboxUnavailable(reason: "no memory for \(bytes.count) shared bytes")
        }
        return try EncodedBytes(
            descriptor: descriptor, byteCount: bytes.count, isMapped: false)
    }

    public func snapshot(_ bytes: EncodedBytes) throws(CodecError) -> EncodedBytes {
        guard let file = bytes.descriptor else { return try prepare(bytes) }
        let copy = calotype_shared_copy_of_file(file, bytes.count)
        guard copy >= 0 else {
            // Nothing is left to be copied of a file that has become shorter.
            throw copy == -ENODATA
                ? .fileChanged
                : .sandboxUnavailable(reason: "no memory for \(bytes.count) shared bytes")
        }
        let snapshot = try EncodedBytes(
            descriptor: copy, byteCount: bytes.count, isMapped: false)
        try bytes.checkUnchanged()
        return snapshot
    }

    public func header(
        of picture: RemotePicture
    ) throws(CodecError) -> (format: String, header: ImageHeader) {
        try ask(inspections, .header, picture, DecodeOptions(), nil, nil) {
            (reader, _) throws(WireError) in
            let format = try reader.value(String.self)
            let header = try reader.value(ImageHeader.self)
            if let end = header.thumbnail?.upperBound, end > picture.bytes.count {
                throw WireError(reason: "a thumbnail beyond the file")
            }
            return (format, header)
        }
    }

    public func metadata(of picture: RemotePicture) throws(CodecError) -> MetadataBlocks {
        try ask(inspections, .metadata, picture, DecodeOptions(), nil, nil) {
            (reader, _) throws(WireError) in try reader.value()
        }
    }

    public func image(
        of picture: RemotePicture, _ options: DecodeOptions, byteCount: Int,
        cancellation: CancellationFlag?
    ) throws(CodecError) -> DecodedImage {
        try ask(decodes, .image, picture, options, byteCount, cancellation) {
            (reader, memory) throws(WireError) in
            DecodedImage(image: try memory.image(&reader), report: try reader.value())
        }
    }

    public func images(
        of picture: RemotePicture, _ options: [DecodeOptions], byteCounts: [Int],
        cancellation: CancellationFlag?
    ) throws(CodecError) -> [DecodedImage?] {
        let byteCount = byteCounts.reduce(0, +)
        let body = DecodeRequest.body(
            picture, options[0], Array(options.dropFirst()), byteCount: byteCount)
        return try ask(
            decodes, .images, picture, options[0], byteCount, cancellation, body: body
        ) { (reader, memory) throws(WireError) in
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
            guard images[0] != nil else { throw WireError(reason: "a missing first image") }
            return images
        }
    }

    public func preview(
        of picture: RemotePicture, _ options: DecodeOptions, byteCount: Int,
        cancellation: CancellationFlag?
    ) throws(CodecError) -> ImagePreview? {
        try ask(decodes, .preview, picture, options, byteCount, cancellation) {
            (reader, memory) throws(WireError) in
            guard try reader.value(Bool.self) else { return nil }
            return ImagePreview(
                image: try memory.image(&reader), completeness: try reader.value())
        }
    }

    public func rows(
        of picture: RemotePicture, _ options: DecodeOptions, into consumer: any RowConsumer,
        cancellation: CancellationFlag?
    ) throws(CodecError) -> DecodeReport {
        let receiver = BandReceiver(consumer, picture.limits)
        return try ask(
            decodes, .rows, picture, options, nil, cancellation,
            { message throws(Worker.Failure) in try receiver.receive(message) }
        ) { (reader, _) throws(WireError) in try reader.value() }
    }

    public func frames(
        of picture: RemotePicture, _ options: DecodeOptions, byteCount: Int,
        cancellation: CancellationFlag?
    ) throws(CodecError) -> any RemoteFrames {
        try quarantine.check(picture.bytes)
        let worker = try animations.take(cancellation)
        do throws(Worker.Failure) {
            try ask(worker, .frames, picture, options, nil, cancellation) { (_, _) in }
        } catch {
            throw settle(error, of: worker, in: animations, picture)
        }
        return SandboxedFrames(worker, of: picture, byteCount, cancellation, in: self)
    }

    /// The next frame of an animation that a worker has begun.
    func nextFrame(
        _ worker: Worker, of picture: RemotePicture, _ byteCount: Int,
        _ cancellation: CancellationFlag?
    ) throws(CodecError) -> ImageFrame? {
        do throws(Worker.Failure) {
            return try ask(
                worker, .nextFrame, picture, DecodeOptions(), byteCount, cancellation
            ) { (reader, memory) throws(WireError) in
                guard try reader.value(Bool.self) else { return nil }
                let image = try memory.image(&reader)
                let duration = try reader.value(Duration.self)
                return ImageFrame(
                    image: image, duration: duration, region: try reader.value(),
                    disposal: try reader.value(), blending: try reader.value())
            }
        } catch {
            throw settle(error, of: worker, in: animations, picture)
        }
    }

    /// Takes the worker of an animation back that is over.
    func endFrames(_ worker: Worker) { giveBack(worker, to: animations) }

    /// Asks a worker of a lane, and another one if somebody killed the first.
    private func ask<Answer>(
        _ lane: WorkerLane, _ kind: Message.Kind, _ picture: RemotePicture,
        _ options: DecodeOptions, _ byteCount: Int?, _ cancellation: CancellationFlag?,
        _ proceed: Worker.Proceed? = nil, body: [UInt8]? = nil,
        _ read: (inout WireReader, ReceivedPixels) throws(WireError) -> Answer
    ) throws(CodecError) -> Answer {
        try quarantine.check(picture.bytes)
        // Rows that were handed on cannot be taken back.
        var isLastTry = proceed != nil
        while true {
            let worker = try lane.take(cancellation)
            do throws(Worker.Failure) {
                let answer = try ask(
                    worker, kind, picture, options, byteCount, cancellation, proceed, body: body,
                    read)
                giveBack(worker, to: lane)
                return answer
            } catch {
                let problem = settle(error, of: worker, in: lane, picture)
                guard case .killed = error, !isLastTry else { throw problem }
                isLastTry = true
            }
        }
    }

    /// Asks a worker once; `proceed` answers what it says before its answer, of which `read` makes the
    /// result.
    private func ask<Answer>(
        _ worker: Worker, _ kind: Message.Kind, _ picture: RemotePicture,
        _ options: DecodeOptions, _ byteCount: Int?, _ cancellation: CancellationFlag?,
        _ proceed: Worker.Proceed? = nil, body: [UInt8]? = nil,
        _ read: (inout WireReader, ReceivedPixels) throws(WireError) -> Answer
    ) throws(Worker.Failure) -> Answer {
        // Only bytes of no length at all are not open.
        guard let file = picture.bytes.descriptor else { throw .codec(.unknownFormat) }
        let memory: ReceivedPixels
        do throws(CodecError) {
            memory = try ReceivedPixels(byteCount, room: worker.room)
        } catch {
            throw .codec(error)
        }
        let answer = try worker.ask(
            kind, body ?? DecodeRequest.body(picture, options, byteCount: byteCount),
            descriptors: [file] + memory.descriptors,
            maximumByteCount: Self.maximumAnswerByteCount(picture.limits),
            seconds: configuration.deadlineSeconds, cancellation: cancellation,
            proceed: proceed)
        do throws(WireError) {
            var reader = WireReader(answer)
            let result = try read(&reader, memory)
            try reader.end()
            return result
        } catch {
            throw .stopped(.nonsense(reason: error.reason))
        }
    }

    /// Does with a worker what its failure asks for.
    ///
    /// - Returns: what is said of the picture.
    private func settle(
        _ failure: Worker.Failure, of worker: Worker, in lane: WorkerLane, _ picture: RemotePicture
    ) -> CodecError {
        switch failure {
        case .codec(let error):
            giveBack(worker, to: lane)
            return error
        case .abandoned(let error):
            worker.end()
            lane.replace()
            return error
        case .stopped(let reason):
            worker.end()
            lane.replace()
            // Of a file that changes while it is read, the worker saw what no file contains.
            if (try? picture.bytes.checkUnchanged()) != nil { quarantine.remember(picture.bytes) }
            return .decoderStopped(reason)
        case .killed:
            worker.end()
            lane.replace()
            return .decoderStopped(.killed)
        }
    }

    private func giveBack(_ worker: Worker, to lane: WorkerLane) {
        if worker.hasEnded {
            lane.replace()
        } else if worker.pictureCount >= configuration.maximumPictureCount {
            worker.end()
            lane.replace()
        } else {
            lane.giveBack(worker)
        }
    }

    /// Some blocks of metadata, and what else a header says.
    private static func maximumAnswerByteCount(_ limits: DecodeLimits) -> Int {
        limits.maximumMetadataByteCount.multipliedReportingOverflow(by: 4).partialValue
            &+ (1 << 20)
    }
}
