// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// The frames of an animation, composed by a worker that is reserved until the last frame.
///
/// If another process kills the worker, another worker composes the animation again up to the next
/// frame.
final class SandboxedFrames: RemoteFrames {
    private let sandbox: DecoderSandbox
    private let pool: WorkerPool
    private let formats: WorkerFormats
    private let beginning: WorkerRequest
    private let following: WorkerRequest
    private var worker: Worker?
    /// The number of frames that have been delivered.
    private var count = 0

    /// - Parameters:
    ///   - beginning: the request that starts the animation.
    ///   - following: the request for the next frame.
    ///   - sandbox: the owner of the workers.
    init(_ beginning: WorkerRequest, _ following: WorkerRequest, in sandbox: DecoderSandbox) {
        self.beginning = beginning
        self.following = following
        self.sandbox = sandbox
        pool = sandbox.animations
        formats = sandbox.formats(for: .decode(beginning.image.bytes))
    }

    deinit {
        if let worker { sandbox.release(worker, to: pool) }
    }

    /// Acquires a worker and starts the animation.
    func begin() throws(CodecError) {
        try retrying { () throws(Failure) in try start() }
    }

    func next() throws(CodecError) -> ImageFrame? {
        guard worker != nil || count == 0 else { return nil }
        let frame = try retrying { () throws(Failure) in
            if worker == nil {
                try start()
                for _ in 0..<count { _ = try nextFrame() }
            }
            return try nextFrame()
        }
        count += 1
        if frame == nil, let worker {
            self.worker = nil
            sandbox.release(worker, to: pool)
        }
        return frame
    }

    private enum Failure: Error {
        case killed
        case codec(CodecError)
    }

    /// Calls `body` a second time if another process killed the worker.
    private func retrying<Result>(
        _ body: () throws(Failure) -> Result
    ) throws(CodecError) -> Result {
        var isLastTry = false
        while true {
            do throws(Failure) {
                return try body()
            } catch {
                switch error {
                case .codec(let error): throw error
                case .killed where isLastTry: throw .decoderStopped(.killed)
                case .killed: isLastTry = true
                }
            }
        }
    }

    private func start() throws(Failure) {
        do throws(CodecError) {
            try sandbox.quarantine.check(beginning.image.bytes)
            worker = try pool.acquire(formats, beginning.cancellation)
        } catch {
            throw .codec(error)
        }
        try withWorker { worker throws(Worker.Failure) in
            try sandbox.perform(beginning, on: worker, of: pool) { (_, _) in }
        }
    }

    private func nextFrame() throws(Failure) -> ImageFrame? {
        try withWorker { worker throws(Worker.Failure) in
            try sandbox.perform(following, on: worker, of: pool) {
                (reader, memory) throws(WireError) in
                guard try reader.value(Bool.self) else { return nil }
                let image = try memory.image(&reader)
                let duration = try reader.value(Duration.self)
                return ImageFrame(
                    image: image, duration: duration, region: try reader.value(),
                    disposal: try reader.value(), blending: try reader.value())
            }
        }
    }

    /// Calls `body` with the worker, and releases or replaces the worker if it fails.
    private func withWorker<Result>(
        _ body: (Worker) throws(Worker.Failure) -> Result?
    ) throws(Failure) -> Result? {
        guard let worker else { return nil }
        do throws(Worker.Failure) {
            return try body(worker)
        } catch {
            self.worker = nil
            let problem = sandbox.settle(error, of: worker, in: pool, following)
            if case .killed = error { throw .killed }
            throw .codec(problem)
        }
    }
}
