// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// A request to a worker.
struct WorkerRequest {
    let kind: Message.Kind
    let picture: RemotePicture
    /// The maximum size of the pixels of the result, if it has any.
    let byteCount: Int?
    let body: [UInt8]
    let maximumAnswerByteCount: Int
    let cancellation: CancellationFlag?
    /// Replies to what a worker sends before its answer.
    var proceed: Worker.Proceed?
    /// Whether the bytes were made by this program and are not to be held against a file.
    var isOwn = false

    init(
        _ kind: Message.Kind, _ picture: RemotePicture, byteCount: Int?, body: [UInt8],
        maximumAnswerByteCount: Int = 1 << 20, cancellation: CancellationFlag? = nil
    ) {
        self.kind = kind
        self.picture = picture
        self.byteCount = byteCount
        self.body = body
        self.maximumAnswerByteCount = maximumAnswerByteCount
        self.cancellation = cancellation
    }

    /// The same for pictures with the same start and length.
    var identity: Int {
        var hasher = Hasher()
        hasher.combine(picture.bytes.count)
        hasher.combine(picture.bytes.copy(of: 0..<min(picture.bytes.count, 1024)))
        return hasher.finalize()
    }
}

extension DecoderSandbox {
    /// Asks a worker of a lane, and another one if the first was killed by another process.
    func ask<Answer>(
        _ lane: WorkerLane, _ request: WorkerRequest,
        _ read: (inout WireReader, ReceivedPixels) throws(WireError) -> Answer
    ) throws(CodecError) -> Answer {
        if !request.isOwn { try quarantine.check(request.picture.bytes) }
        // Rows that were handed on cannot be taken back.
        var isLastTry = request.proceed != nil
        while true {
            let worker = try lane.take(request.cancellation)
            do throws(Worker.Failure) {
                let answer = try ask(worker, of: lane, request, read)
                giveBack(worker, to: lane)
                return answer
            } catch {
                let problem = settle(error, of: worker, in: lane, request)
                guard case .killed = error, !isLastTry else { throw problem }
                isLastTry = true
            }
        }
    }

    /// Asks a worker once; `read` makes the result of its answer.
    func ask<Answer>(
        _ worker: Worker, of lane: WorkerLane, _ request: WorkerRequest,
        _ read: (inout WireReader, ReceivedPixels) throws(WireError) -> Answer
    ) throws(Worker.Failure) -> Answer {
        // Only bytes of no length at all are not open.
        guard let file = request.picture.bytes.descriptor else { throw .codec(.unknownFormat) }
        let memory: ReceivedPixels
        do throws(CodecError) {
            memory = try ReceivedPixels(request.byteCount, room: worker.room)
        } catch {
            throw .codec(error)
        }
        let answer = try worker.ask(
            request, descriptors: [file] + memory.descriptors, patience(lane, request))
        do throws(WireError) {
            var reader = WireReader(answer)
            let result = try read(&reader, memory)
            try reader.end()
            return result
        } catch {
            throw .stopped(.nonsense(reason: error.reason))
        }
    }

    /// How long a worker may take for a request.
    private func patience(_ lane: WorkerLane, _ request: WorkerRequest) -> Worker.Patience {
        let full = fullSeconds(lane, request)
        guard lane === inspections else {
            let seconds =
                request.isOwn
                ? full
                : quarantine.seconds(
                    for: request.picture.bytes, full: full,
                    least: configuration.leastDeadlineSeconds)
            return Worker.Patience(seconds: seconds)
        }
        let seconds = quarantine.seconds(
            for: request.picture.bytes, full: full,
            least: min(0.25, configuration.leastDeadlineSeconds))
        return Worker.Patience(
            seconds: seconds,
            contendedSeconds: min(seconds, configuration.contendedInspectionSeconds),
            isContended: { lane.isWaitedFor })
    }

    /// The time for a file that resembles none that was stopped.
    private func fullSeconds(_ lane: WorkerLane, _ request: WorkerRequest) -> Double {
        guard lane === inspections else { return configuration.deadlineSeconds }
        let bySize = 2 + Double(request.picture.bytes.count) / Double(16 << 20)
        return min(bySize, configuration.inspectionSeconds, configuration.deadlineSeconds)
    }

    /// Does with a worker what its failure asks for.
    ///
    /// - Returns: the error for the picture.
    func settle(
        _ failure: Worker.Failure, of worker: Worker, in lane: WorkerLane, _ request: WorkerRequest
    ) -> CodecError {
        switch failure {
        case .codec(let error):
            if worker.hasEnded { configuration.onStop?(.cancelled) }
            giveBack(worker, to: lane)
            return error
        case .abandoned(let error):
            worker.end()
            lane.replace()
            return error
        case .killed:
            worker.end()
            lane.replace()
            configuration.onStop?(.killed)
            return .decoderStopped(.killed)
        case .stopped(let stop):
            worker.end()
            lane.replace()
            // Of a file that changes while it is read, the worker saw what no file contains.
            if !request.isOwn, (try? request.picture.bytes.checkUnchanged()) == nil {
                return .fileChanged
            }
            configuration.onStop?(StopReason(stop))
            if !request.isOwn { remember(stop, fullSeconds(lane, request), request) }
            return .decoderStopped(stop)
        }
    }

    private func remember(_ stop: DecoderStop, _ fullSeconds: Double, _ request: WorkerRequest) {
        var hadFullTime = true
        if case .deadline(let seconds) = stop {
            hadFullTime = seconds >= fullSeconds
            quarantine.noteDelay(request.picture.bytes, hadFullTime: hadFullTime)
        }
        quarantine.remember(request.picture.bytes, hadFullTime: hadFullTime)
    }

    func giveBack(_ worker: Worker, to lane: WorkerLane) {
        if worker.hasEnded {
            lane.replace()
        } else if worker.pictureCount >= configuration.maximumPictureCount
            || worker.processorSeconds >= Double(configuration.processorSeconds) / 2
            || !worker.restorePriority()
        {
            worker.end()
            lane.replace()
        } else {
            lane.giveBack(worker)
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
