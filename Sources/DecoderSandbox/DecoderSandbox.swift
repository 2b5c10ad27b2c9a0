// SPDX-License-Identifier: Apache-2.0

public import EncodedImages

/// Decodes images in worker processes that have no other rights.
///
/// A worker that crashes, hangs or makes a forbidden system call fails one image and nothing else.
/// Workers are started in advance and reused: a decode costs what it costs in this process, plus a few
/// context switches.
public final class DecoderSandbox: Sendable {
    /// The worker program, the number of workers and their limits.
    public struct Configuration: Sendable {
        /// The path of the program that only calls `SandboxWorker/run(preparing:)`.
        public var workerPath: String
        /// The maximum number of images that are decoded at the same time.
        public var workerCount: Int
        /// The maximum number of images that are decoded in addition while others are less urgent.
        public var spareCount = 0
        /// The maximum number of animations that are read at the same time.
        public var animationCount: Int
        /// The number of images after which a worker is replaced; reading a header or metadata counts as a
        /// tenth of an image.
        public var maximumImageCount = 1000
        /// The time limit for one image, in seconds, after which the worker is killed.
        public var deadlineSeconds = 30.0
        /// The processor time of a request after which its worker continues with a low priority, in seconds;
        /// `nil` to keep the priority.
        ///
        /// One slow image then delays other requests little, although all workers and the host compute on
        /// the same cores. The worker is replaced after the request, unless this program may restore its
        /// priority.
        public var quickSeconds: Double?
        /// The time between the cancellation of a request and the kill of a worker that has not responded,
        /// in seconds.
        var cancellationSeconds = 0.2
        /// The minimum time limit for an image that resembles others that reached the deadline, in seconds.
        public var leastDeadlineSeconds = 2.0
        /// The maximum number of bytes that a worker allocates in addition to those at its start.
        ///
        /// The decode limits of a request are lowered to ``maximumResultByteCount``, so that an image
        /// that needs more is refused on its header.
        public var memoryByteCount = 512 << 20
        /// The maximum number of bytes for a worker that reads only headers and metadata.
        public var inspectionMemoryByteCount = 256 << 20
        /// The maximum time for a header or metadata, in seconds; less for a small file, and
        /// ``contendedInspectionSeconds`` while others wait.
        public var inspectionSeconds = 5.0
        /// The maximum time for a header or metadata while another request waits for a worker, in
        /// seconds.
        public var contendedInspectionSeconds = 1.0
        /// The layers without which no image is decoded.
        public var requiredLayers = SandboxLayer.essential
        /// The time for which a file that stopped a worker is refused, in seconds.
        public var quarantineSeconds = 600.0
        /// Chooses the formats whose libraries a worker loads for a request; `nil` for all, as by default.
        ///
        /// A worker that loads little starts in a fraction of the time. It handles requests with the same
        /// choice only, and is replaced if another choice is needed and no further worker may be started.
        public var formats: @Sendable (Work) -> Set<String>? = { _ in nil }
        /// Whether workers start only when a request needs them, which suits programs that end after a
        /// few files.
        ///
        /// Otherwise some are started in advance, with the formats for ``Work/convertColors``.
        public var startsOnDemand = false
        /// Called on the thread of the request when a worker ends before it has responded.
        public var onStop: (@Sendable (StopReason) -> Void)?

        /// Creates a configuration with default limits.
        ///
        /// - Parameters:
        ///   - workerPath: the path of the worker program.
        ///   - workerCount: the maximum number of images that are decoded at the same time, at least 1.
        public init(workerPath: String, workerCount: Int) {
            self.workerPath = workerPath
            self.workerCount = workerCount
            animationCount = workerCount
        }

        /// The maximum number of headers that are read at the same time.
        public var inspectionCount: Int { min(4, workerCount + 1) }
        /// The maximum number of bytes that all workers together allocate in addition to those at their
        /// start.
        public var totalMemoryByteCount: Int {
            (2 * workerCount + spareCount + animationCount) * memoryByteCount
                + inspectionCount * min(inspectionMemoryByteCount, memoryByteCount)
        }
        /// The maximum value of `DecodeLimits.maximumMemoryByteCount` in a worker; the rest of its memory
        /// is reserved for allocations of decoders other than pixels.
        public var maximumResultByteCount: Int { memoryByteCount - memoryByteCount / 8 }
        /// The processor time after which a worker is stopped, in seconds.
        ///
        /// A worker that has used half of it is replaced after the current image.
        var processorSeconds: Int { 20 * max(1, Int(deadlineSeconds.rounded(.up))) }
    }

    /// The work of a request.
    public enum Work {
        /// Decoding a file, or reading its header or metadata.
        case decode(EncodedBytes)
        /// Encoding in a format.
        case encode(format: String)
        /// Converting colours.
        case convertColors
    }

    /// The reason why a worker ended before it had responded.
    public enum StopReason: String, Hashable, Sendable, CaseIterable {
        /// A signal such as SIGSEGV.
        case crash
        /// A system call that the sandbox forbids.
        case forbidden
        /// The memory limit of the worker.
        case memory
        /// The time limit of the request.
        case deadline
        /// A response that violates the protocol.
        case nonsense
        /// A kill by another process.
        case killed
        /// A cancelled request on which the worker continued to compute.
        case cancelled
    }

    let configuration: Configuration
    let quarantine: Quarantine
    /// Workers for headers and metadata, which are quick to read and frequently requested.
    let inspections: WorkerPool
    /// Workers that decode images.
    let decodes: WorkerPool
    /// Workers for animations, each of which occupies one until its last frame.
    let animations: WorkerPool
    /// Workers for formats that take long to encode.
    let encodes: WorkerPool

    /// Creates a sandbox and starts its first workers in the background, unless they depend on the
    /// requests.
    public init(_ configuration: Configuration) {
        precondition(configuration.workerCount > 0, "workerCount must be at least 1")
        self.configuration = configuration
        quarantine = Quarantine(.seconds(configuration.quarantineSeconds))
        let memoryByteCount = configuration.memoryByteCount
        let inspectionByteCount = min(configuration.inspectionMemoryByteCount, memoryByteCount)
        let startsOnDemand = configuration.startsOnDemand
        let usual = WorkerFormats(configuration.formats(.convertColors))
        let pool = { (count: Int, aheadCount: Int, byteCount: Int) in
            WorkerPool(
                // On demand, files of a few formats in turn do not replace each other's workers.
                count: startsOnDemand ? 4 * count : count,
                ahead: startsOnDemand ? [] : Array(repeating: usual, count: aheadCount)
            ) { formats throws(CodecError) in
                try Worker(configuration, formats, memoryByteCount: byteCount)
            }
        }
        let count = configuration.workerCount
        decodes = pool(count + configuration.spareCount, count, memoryByteCount)
        animations = pool(configuration.animationCount, 0, memoryByteCount)
        encodes = pool(count, 0, memoryByteCount)
        // A program that handles a few files does not start a second worker for their headers.
        inspections =
            startsOnDemand
            ? decodes : pool(configuration.inspectionCount, 1, inspectionByteCount)
    }

    deinit { close() }

    /// Ends all workers and rejects further requests.
    public func close() {
        inspections.close()
        decodes.close()
        animations.close()
        encodes.close()
    }

    /// Waits until a worker has started.
    ///
    /// - Returns: the layers that confine it.
    /// - Throws: `CodecError/sandboxUnavailable(reason:)`.
    public func layers() throws(CodecError) -> Set<SandboxLayer> {
        let worker = try inspections.acquire(formats(for: .convertColors), nil)
        inspections.release(worker)
        return worker.layers
    }
}
