// SPDX-License-Identifier: Apache-2.0

public import EncodedImages

/// Decodes pictures in processes that can do nothing else.
///
/// A worker that crashes, hangs or does what it must not takes one picture with it and nothing else.
/// Workers are started ahead of need and kept: a decode costs what it costs in this process, and some
/// wake-ups.
public final class DecoderSandbox: Sendable {
    public struct Configuration: Sendable {
        /// The program whose only work is `SandboxWorker/run(codecs:)`.
        public var workerPath: String
        /// How many pictures are decoded at the same time.
        public var workerCount: Int
        /// How many animations are read at the same time.
        public var animationCount: Int
        /// After how many pictures a worker makes way for a new one.
        public var maximumPictureCount = 1000
        /// How long one picture may take, in seconds; the worker is killed then.
        public var deadlineSeconds = 30.0
        /// The minimum time for a picture that resembles others that reached the deadline, in seconds.
        public var leastDeadlineSeconds = 2.0
        /// The maximum number of bytes that a worker allocates in addition to what it starts with.
        ///
        /// Limits that go to a worker allow no more than ``maximumResultByteCount``, so that a
        /// picture that needs more is refused on its header.
        public var memoryByteCount = 512 << 20
        /// The same for a worker that reads headers and metadata only.
        public var inspectionMemoryByteCount = 256 << 20
        /// The maximum time for a header or metadata, in seconds; less for a small file, and
        /// ``contendedInspectionSeconds`` while others wait.
        public var inspectionSeconds = 5.0
        /// The maximum time for a header or metadata while another request waits for a worker, in
        /// seconds.
        public var contendedInspectionSeconds = 1.0
        /// What must hold; nothing is decoded where the system does not permit it.
        public var requiredLayers = SandboxLayer.essential
        /// How long a file is refused that stopped a worker, in seconds.
        public var quarantineSeconds = 600.0
        /// Called on the thread of the request whenever a worker ends before its answer.
        public var onStop: (@Sendable (StopReason) -> Void)?

        /// - Parameters:
        ///   - workerPath: where the program is.
        ///   - workerCount: how many pictures are decoded at the same time.
        public init(workerPath: String, workerCount: Int) {
            self.workerPath = workerPath
            self.workerCount = workerCount
            animationCount = workerCount
        }

        /// How many headers are read at the same time.
        public var inspectionCount: Int { min(4, workerCount + 1) }
        /// The bytes that all workers may allocate together, in addition to what they start with.
        public var totalMemoryByteCount: Int {
            (2 * workerCount + animationCount) * memoryByteCount
                + inspectionCount * min(inspectionMemoryByteCount, memoryByteCount)
        }
        /// The maximum value of `DecodeLimits.maximumMemoryByteCount` in a worker: the rest is for
        /// what decoders allocate besides pixels.
        public var maximumResultByteCount: Int { memoryByteCount - memoryByteCount / 8 }
        /// The processor time after which a worker is stopped, in seconds; one that has used half of
        /// it is replaced after its picture.
        var processorSeconds: Int { 20 * max(1, Int(deadlineSeconds.rounded(.up))) }
    }

    /// Why a worker ended before its answer.
    public enum StopReason: String, Hashable, Sendable, CaseIterable {
        case crash, forbidden, memory, deadline, nonsense
        /// Another process killed it.
        case killed
        /// Its request was cancelled, and it did not notice in time.
        case cancelled
    }

    let configuration: Configuration
    let quarantine: Quarantine
    /// For headers and metadata, which are quick and are asked for by many.
    let inspections: WorkerLane
    let decodes: WorkerLane
    /// For animations, which keep their worker from frame to frame.
    let animations: WorkerLane
    /// For pictures whose encoding may take long.
    let encodes: WorkerLane

    public init(_ configuration: Configuration) {
        precondition(configuration.workerCount > 0, "a sandbox needs a worker")
        self.configuration = configuration
        quarantine = Quarantine(.seconds(configuration.quarantineSeconds))
        let memoryByteCount = configuration.memoryByteCount
        let inspectionByteCount = min(configuration.inspectionMemoryByteCount, memoryByteCount)
        let priority = WorkerPriority()
        let start = { @Sendable () throws(CodecError) in
            try Worker(configuration, memoryByteCount: memoryByteCount, priority: priority)
        }
        inspections = WorkerLane(count: configuration.inspectionCount, aheadCount: 1) {
            () throws(CodecError) in
            try Worker(configuration, memoryByteCount: inspectionByteCount, priority: priority)
        }
        decodes = WorkerLane(
            count: configuration.workerCount, aheadCount: configuration.workerCount, start: start)
        animations = WorkerLane(
            count: configuration.animationCount, aheadCount: 0, start: start)
        encodes = WorkerLane(count: configuration.workerCount, aheadCount: 0, start: start)
    }

    deinit { close() }

    /// Ends all workers; what is asked for afterwards is refused.
    public func close() {
        inspections.close()
        decodes.close()
        animations.close()
        encodes.close()
    }

    /// Waits until a worker is there.
    ///
    /// - Returns: what keeps it from doing anything but decoding.
    /// - Throws: `CodecError/sandboxUnavailable(reason:)`.
    public func layers() throws(CodecError) -> Set<SandboxLayer> {
        let worker = try inspections.take(nil)
        inspections.giveBack(worker)
        return worker.layers
    }
}
