// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// An animation that a worker composes; the worker is its own until it is over.
final class SandboxedFrames: RemoteFrames {
    private let sandbox: DecoderSandbox
    private let picture: RemotePicture
    private let byteCount: Int
    private let cancellation: CancellationFlag?
    private var worker: Worker?

    /// Takes over a worker that has begun the animation; a frame takes `byteCount` at most.
    init(
        _ worker: Worker, of picture: RemotePicture, _ byteCount: Int,
        _ cancellation: CancellationFlag?, in sandbox: DecoderSandbox
    ) {
        self.worker = worker
        self.picture = picture
        self.byteCount = byteCount
        self.cancellation = cancellation
        self.sandbox = sandbox
    }

    deinit {
        if let worker { sandbox.endFrames(worker) }
    }

    func next() throws(CodecError) -> ImageFrame? {
        guard let worker else { return nil }
        // A failure settles what becomes of the worker.
        self.worker = nil
        guard
            let frame = try sandbox.nextFrame(worker, of: picture, byteCount, cancellation)
        else {
            sandbox.endFrames(worker)
            return nil
        }
        self.worker = worker
        return frame
    }
}
