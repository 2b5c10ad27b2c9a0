// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// A request to a worker.
struct WorkerRequest {
    let kind: Message.Kind
    let image: RemoteImage
    /// The maximum size of the pixels of the result, if it has any.
    let byteCount: Int?
    let body: [UInt8]
    /// The maximum number of bytes in the body of the response.
    let maximumResponseByteCount: Int
    let cancellation: CancellationFlag?
    /// The files that follow that of `image`, if the request concerns several.
    var furtherFiles: [EncodedBytes] = []
    /// Replies to the messages that a worker sends before its response.
    var proceed: Worker.Proceed?

    init(
        _ kind: Message.Kind, _ image: RemoteImage, byteCount: Int?, body: [UInt8],
        maximumResponseByteCount: Int = 1 << 20, cancellation: CancellationFlag? = nil
    ) {
        self.kind = kind
        self.image = image
        self.byteCount = byteCount
        self.body = body
        self.maximumResponseByteCount = maximumResponseByteCount
        self.cancellation = cancellation
    }

    /// Whether a failure quarantines the file.
    ///
    /// It does not if this program has produced the bytes, or if any of several files may be the cause.
    var quarantinesFile: Bool {
        switch kind {
        case .convert, .encode, .sizes: false
        default: true
        }
    }

    /// Whether only the header or metadata is read.
    var isInspection: Bool {
        switch kind {
        case .header, .metadata, .metadataFields, .metadataForWriting, .jpegTiles, .gainMap, .sizes:
            true
        default: false
        }
    }

    /// A hash of the length and the first 1,024 bytes of the file.
    var identity: Int {
        var hasher = Hasher()
        hasher.combine(image.bytes.count)
        hasher.combine(image.bytes.copy(of: 0..<min(image.bytes.count, 1024)))
        return hasher.finalize()
    }
}

extension DecoderSandbox {
    /// Returns the formats whose libraries a worker needs.
    func formats(for work: Work) -> WorkerFormats { WorkerFormats(configuration.formats(work)) }

    /// Performs a request on a worker of a pool, and again on another one if another process killed the
    /// first.
    func perform<Response>(
        _ pool: WorkerPool, for work: Work, _ request: WorkerRequest,
        _ read: (inout WireReader, ReceivedPixels) throws(WireError) -> Response
    ) throws(CodecError) -> Response {
        if request.quarantinesFile { try quarantine.check(request.image.bytes) }
        // Rows that the consumer has received cannot be withdrawn.
        var isLastTry = request.proceed != nil
        let formats = formats(for: work)
        while true {
            let worker = try pool.acquire(formats, request.cancellation)
            do throws(Worker.Failure) {
                let response = try perform(request, on: worker, of: pool, read)
                release(worker, to: pool)
                return response
            } catch {
                let problem = settle(error, of: worker, in: pool, request)
                guard case .killed = error, !isLastTry,
                    request.cancellation?.isCancelled != true
                else { throw problem }
                isLastTry = true
            }
        }
    }

    /// Performs a request on a worker, once; `read` converts the response to the result.
    func perform<Response>(
        _ request: WorkerRequest, on worker: Worker, of pool: WorkerPool,
        _ read: (inout WireReader, ReceivedPixels) throws(WireError) -> Response
    ) throws(Worker.Failure) -> Response {
        // Only an empty file has no descriptor.
        guard let file = request.image.bytes.descriptor else { throw .codec(.empty) }
        let memory: ReceivedPixels
        do throws(CodecError) {
            memory = try ReceivedPixels(request.byteCount, buffer: worker.buffer)
        } catch {
            throw .codec(error)
        }
        let response = try worker.perform(
            request,
            descriptors: [file] + request.furtherFiles.compactMap(\.descriptor)
                + (request.image.index?.descriptor.map { [$0] } ?? [])
                + memory.descriptors,
            timeLimit(pool, request))
        do throws(WireError) {
            var reader = WireReader(response)
            let result = try read(&reader, memory)
            try reader.end()
            return result
        } catch {
            throw .stopped(.nonsense(reason: error.reason))
        }
    }

    /// Returns the time limit of a request.
    private func timeLimit(_ pool: WorkerPool, _ request: WorkerRequest) -> Worker.TimeLimit {
        let full = fullSeconds(request)
        guard request.isInspection else {
            let seconds =
                request.quarantinesFile
                ? quarantine.seconds(
                    for: request.image.bytes, full: full,
                    least: configuration.leastDeadlineSeconds)
                : full
            return Worker.TimeLimit(seconds: seconds)
        }
        let seconds = quarantine.seconds(
            for: request.image.bytes, full: full,
            least: min(0.25, configuration.leastDeadlineSeconds))
        return Worker.TimeLimit(
            seconds: seconds,
            contendedSeconds: min(seconds, configuration.contendedInspectionSeconds),
            isContended: { pool.isContended })
    }

    /// The maximum time for the headers of several files, after which each is read alone.
    private static let groupSeconds = 0.5

    /// Returns the time limit of a file that resembles none in the quarantine, in seconds.
    private func fullSeconds(_ request: WorkerRequest) -> Double {
        guard request.isInspection else { return configuration.deadlineSeconds }
        if request.kind == .sizes { return Self.groupSeconds }
        let bySize = 2 + Double(request.image.bytes.count) / Double(16 << 20)
        return min(bySize, configuration.inspectionSeconds, configuration.deadlineSeconds)
    }

    /// Releases or replaces a worker after a failure, and quarantines the file if it is the cause.
    ///
    /// - Returns: the error of the request.
    func settle(
        _ failure: Worker.Failure, of worker: Worker, in pool: WorkerPool, _ request: WorkerRequest
    ) -> CodecError {
        switch failure {
        case .codec(let error):
            if worker.hasEnded { configuration.onStop?(.cancelled) }
            release(worker, to: pool)
            return error
        case .abandoned(let error):
            worker.end()
            pool.replace(worker)
            return error
        case .killed:
            worker.end()
            pool.replace(worker)
            configuration.onStop?(.killed)
            return .decoderStopped(.killed)
        case .stopped(let stop):
            worker.end()
            pool.replace(worker)
            // The worker may have read a mixture of two versions of the file.
            if request.quarantinesFile, (try? request.image.bytes.checkUnchanged()) == nil {
                return .fileChanged
            }
            configuration.onStop?(StopReason(stop))
            if request.quarantinesFile { remember(stop, fullSeconds(request), request) }
            return .decoderStopped(stop)
        }
    }

    private func remember(_ stop: DecoderStop, _ fullSeconds: Double, _ request: WorkerRequest) {
        var hadFullTime = true
        if case .deadline(let seconds) = stop {
            hadFullTime = seconds >= fullSeconds
            quarantine.noteDelay(request.image.bytes, hadFullTime: hadFullTime)
        }
        quarantine.remember(request.image.bytes, hadFullTime: hadFullTime)
    }

    /// Returns a worker to its pool, or replaces it if it has ended or has reached a limit.
    func release(_ worker: Worker, to pool: WorkerPool) {
        if worker.hasEnded {
            pool.replace(worker)
        } else if worker.imageCount >= configuration.maximumImageCount
            || worker.processorSeconds >= Double(configuration.processorSeconds) / 2
            || !worker.restorePriority()
        {
            worker.end()
            pool.replace(worker)
        } else {
            pool.release(worker)
        }
    }
}

extension DecoderSandbox.StopReason {
    init(_ stop: DecoderStop) {
        switch stop {
        case .crash: self = .crash
        case .forbidden: self = .forbidden
        case .memory: self = .memory
        case .deadline: self = .deadline
        case .nonsense: self = .nonsense
        case .killed, .known: self = .killed
        }
    }
}
