// SPDX-License-Identifier: Apache-2.0

internal import CSandbox
internal import EncodedImages
internal import Pixels
internal import Synchronization
internal import Glibc

/// The host's side of a worker process.
///
/// A request that has acquired a worker from its pool has exclusive use of it.
final class Worker: Sendable {
    let layers: Set<SandboxLayer>
    /// The formats whose libraries it has loaded.
    let formats: WorkerFormats
    private let quickSeconds: Double?
    private let cancellationSeconds: Double
    private let process: Int32
    private let socket: Int32
    private let control: ControlPage
    /// The shared buffer for small results; the worker can write to it at any time.
    let buffer: MemoryMapping
    private let state = Mutex(State())

    private struct State {
        var lastRequest: UInt32 = 0
        /// The number of images in tenths: reading a header or metadata counts as one tenth.
        var imageTenths = 0
        var hasEnded = false
        var isLowered = false
        var isIdle = false
    }

    /// The reason why a request has no result.
    enum Failure: Error {
        /// The error that the worker reported, or the cancellation of the request.
        case codec(CodecError)
        /// The worker ended, or can no longer be used.
        case stopped(DecoderStop)
        /// The consumer of rows failed before the last row.
        case abandoned(CodecError)
        /// Another process killed the worker, for a reason unrelated to the image.
        case killed
    }

    /// Handles an intermediate message of a worker and returns the reply.
    typealias Proceed = (Message) throws(Failure) -> (body: [UInt8], descriptor: SharedDescriptor?)

    /// The time limit of a request.
    struct TimeLimit {
        var seconds: Double
        /// The limit while other requests wait for a worker.
        var contendedSeconds: Double?
        var isContended: () -> Bool = { false }

        /// Returns the limit that `duration` exceeds, in seconds; `nil` if it exceeds none.
        func exceeded(after duration: Duration) -> Double? {
            if duration > .seconds(seconds) { return seconds }
            guard let contendedSeconds else { return nil }
            let isLong = duration > .seconds(contendedSeconds)
            return isLong && isContended() ? contendedSeconds : nil
        }
    }

    /// Starts a worker and waits until it has dropped its privileges.
    ///
    /// The kernel kills the worker when the calling thread ends.
    ///
    /// - Parameters:
    ///   - configuration: the worker program and its limits.
    ///   - formats: the formats whose libraries it loads.
    ///   - memoryByteCount: the maximum number of bytes that the worker allocates.
    /// - Throws: ``CodecError/sandboxUnavailable(reason:)``.
    init(
        _ configuration: DecoderSandbox.Configuration, _ formats: WorkerFormats,
        memoryByteCount: Int
    ) throws(CodecError) {
        self.formats = formats
        quickSeconds = configuration.quickSeconds
        cancellationSeconds = configuration.cancellationSeconds
        guard let shared = SharedDescriptor(byteCount: ControlPage.byteCount),
            let control = ControlPage(shared.number),
            let buffer = MemoryMapping(shared.number, byteCount: ControlPage.byteCount)
        else { throw .sandboxUnavailable(reason: "shared memory cannot be created") }
        control.memoryMegabytes = UInt32(clamping: memoryByteCount >> 20)
        control.seconds = UInt32(clamping: configuration.processorSeconds)
        var ends: (Int32, Int32) = (-1, -1)
        guard unsafe calotype_socket_pair(&ends.0, &ends.1) == 0 else {
            throw .sandboxUnavailable(
                reason: "a socket pair cannot be created: too many open files")
        }
        var namespaces: UInt32 = 0
        let process = unsafe calotype_spawn(
            configuration.workerPath, formats.argument, ends.1, shared.number, &namespaces)
        close(ends.1)
        guard process > 0 else {
            close(ends.0)
            throw .sandboxUnavailable(
                reason: "\(configuration.workerPath): \(systemError(-process))")
        }
        self.process = process
        self.control = control
        self.buffer = buffer
        socket = ends.0
        do throws(WireError) {
            layers = SandboxLayer.layers(try Self.readHello(ends.0) | namespaces)
        } catch {
            layers = []
            end()
            throw .sandboxUnavailable(
                reason: "\(configuration.workerPath) \(error.reason)")
        }
        let missing = configuration.requiredLayers.subtracting(layers)
        if !missing.isEmpty {
            end()
            let names = missing.map { "\($0.rawValue) requires \($0.requirement)" }
            throw .sandboxUnavailable(
                reason: "sandbox incomplete: \(names.sorted().joined(separator: "; "))")
        }
    }

    deinit { end() }

    /// Reads the first message of a worker, which it sends after it has dropped its privileges.
    ///
    /// - Returns: the bits of its layers.
    /// - Throws: ``WireError`` if the program is not a worker of this version.
    private static func readHello(_ socket: Int32) throws(WireError) -> UInt32 {
        let other = WireError(reason: "is of another version than this program")
        let deadline = ContinuousClock.now + .seconds(20)
        let hello: Message?
        do throws(WireError) {
            hello = try receive(socket, Message.maximumShortByteCount) { $0 > deadline }
        } catch {
            throw other
        }
        guard let hello, hello.kind == .hello else {
            throw WireError(reason: "is not a worker program, or did not start within 20 s")
        }
        var reader = WireReader(hello.body)
        guard try reader.number() == WireLayout.fingerprint else { throw other }
        return UInt32(truncatingIfNeeded: try reader.number())
    }

    /// Whether the process has ended.
    var hasEnded: Bool { state.withLock(\.hasEnded) }

    /// The number of images that it has processed.
    var imageCount: Int { state.withLock { $0.imageTenths / 10 } }

    /// The processor time that it has used, in seconds.
    var processorSeconds: Double { calotype_processor_seconds(process) }

    /// The niceness of a worker with a slow request, in addition to that of the host: a tenth of its
    /// share of a processor, and others that become ready run at once.
    private static let slowNiceness: Int32 = 10

    /// Lowers its priority below that of the host and of workers with quick requests.
    private func lowerPriority() {
        state.withLock { state in
            state.isLowered =
                state.isLowered || calotype_set_niceness(process, Self.slowNiceness)
        }
    }

    /// Leaves the processors to all others, since no one waits for the response.
    private func becomeIdle() {
        state.withLock { state in
            state.isIdle = state.isIdle || calotype_set_idle(process, true)
        }
    }

    /// Restores its priority after a slow or cancelled request.
    ///
    /// - Returns: whether it has its usual priority again, which the system permits to programs with a
    ///   privilege only.
    func restorePriority() -> Bool {
        state.withLock { state in
            if state.isIdle, calotype_set_idle(process, false) { state.isIdle = false }
            if state.isLowered, calotype_set_niceness(process, 0) { state.isLowered = false }
            return !state.isLowered && !state.isIdle
        }
    }

    /// Ends the worker unless it has ended.
    ///
    /// - Parameter kills: whether to send SIGKILL, or only to wait for the end.
    /// - Returns: the wait status, at the first call only.
    @discardableResult
    func end(kills: Bool = true) -> Int32? {
        let isFirst = state.withLock { state in
            defer { state.hasEnded = true }
            return !state.hasEnded
        }
        guard isFirst else { return nil }
        let status = calotype_end(process, kills)
        close(socket)
        return status
    }

    /// Sends a request to the worker and waits for the response.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - descriptors: the descriptors that are sent with it.
    ///   - timeLimit: the maximum time.
    /// - Returns: the body of the response.
    /// - Throws: ``Failure``.
    func perform(
        _ request: WorkerRequest, descriptors: [Int32], _ timeLimit: TimeLimit
    ) throws(Failure) -> [UInt8] {
        let number = state.withLock { state in
            switch request.kind {
            case .nextFrame: break
            case .header, .metadata, .metadataFields: state.imageTenths += 1
            default: state.imageTenths += 10
            }
            state.lastRequest &+= 1
            // 0 means no request.
            if state.lastRequest == 0 { state.lastRequest = 1 }
            return state.lastRequest
        }
        try send(Message(request.kind, number, request.body), descriptors)
        while true {
            let message = try response(to: number, request, timeLimit)
            switch message.kind {
            case .answer:
                return message.body
            case .failure:
                var reader = WireReader(message.body)
                throw Self.failure(from: &reader)
            case .rowsBegin, .band:
                guard let proceed = request.proceed else { fallthrough }
                let (body, descriptor) = try proceed(message)
                try send(
                    Message(.proceed, number, body), descriptor.map { [$0.number] } ?? [])
            default:
                throw .stopped(.nonsense(reason: "a response of an unexpected kind"))
            }
        }
    }

    private static func failure(from reader: inout WireReader) -> Failure {
        do throws(WireError) {
            return .codec(try reader.value())
        } catch {
            return .stopped(.nonsense(reason: error.reason))
        }
    }

    private func send(_ message: Message, _ descriptors: [Int32]) throws(Failure) {
        let bytes = message.bytes
        let sent = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe descriptors.withUnsafeBufferPointer { descriptors in
                unsafe calotype_send(
                    socket, bytes.baseAddress, bytes.count, descriptors.baseAddress,
                    Int32(descriptors.count), false)
            }
        }
        // A worker that waits for a request has an empty socket buffer, which holds a whole request.
        guard sent == bytes.count else { throw ended(nil) }
    }

    /// Waits for a message until the time limit or the cancellation of the request.
    private func response(
        to number: UInt32, _ request: WorkerRequest, _ timeLimit: TimeLimit
    ) throws(Failure) -> Message {
        let start = ContinuousClock.now
        let startSeconds = quickSeconds == nil ? 0 : processorSeconds
        var exceeded: Double?
        var grace: ContinuousClock.Instant?
        let message: Message?
        do throws(WireError) {
            message = try Self.receive(socket, request.maximumResponseByteCount) { now in
                if grace == nil, request.cancellation?.isCancelled == true {
                    control.cancelledRequest = number
                    grace = now + .seconds(cancellationSeconds)
                } else if grace != nil, quickSeconds != nil {
                    // It has not responded for 20 ms.
                    becomeIdle()
                }
                if let quickSeconds, processorSeconds - startSeconds > quickSeconds {
                    lowerPriority()
                }
                exceeded = timeLimit.exceeded(after: now - start)
                return exceeded != nil || grace.map { now > $0 } == true
            }
        } catch {
            throw .stopped(.nonsense(reason: error.reason))
        }
        guard let message else {
            if let grace, ContinuousClock.now > grace {
                end()
                throw .codec(.cancelled)
            }
            if let exceeded {
                end()
                throw .stopped(.deadline(seconds: exceeded))
            }
            throw ended(timeLimit)
        }
        guard message.request == number else {
            throw .stopped(.nonsense(reason: "a response to another request"))
        }
        return message
    }

    /// Receives a message.
    ///
    /// - Parameters:
    ///   - socket: the host's end of the connection.
    ///   - maximumByteCount: the maximum length of the body.
    ///   - isOver: returns whether to stop waiting; called at least every 20 ms.
    /// - Returns: `nil` at the end of the connection or of the time.
    /// - Throws: ``WireError``.
    private static func receive(
        _ socket: Int32, _ maximumByteCount: Int,
        until isOver: (ContinuousClock.Instant) -> Bool
    ) throws(WireError) -> Message? {
        var hasBegun = false
        return try Message(maximumByteCount: maximumByteCount) { bytes, place in
            // A worker that sends single bytes does not extend the time limit.
            if hasBegun, isOver(.now) { return 0 }
            hasBegun = true
            while true {
                var none: Int32 = 0
                let count = unsafe bytes.withUnsafeMutableBytes { bytes in
                    unsafe calotype_receive(
                        socket, bytes.baseAddress?.advanced(by: place), bytes.count - place, nil,
                        0, &none)
                }
                guard count == -Int(EAGAIN) else { return count }
                if isOver(.now) { return 0 }
            }
        }
    }

    /// Returns the reason why the worker closed the connection.
    private func ended(_ timeLimit: TimeLimit?) -> Failure {
        // The process may still run.
        guard let status = end(kills: true) else { return .killed }
        if status & 0x7F == 0 {
            let code = (status >> 8) & 0xFF
            if code == Int32(calotype_exit_memory) { return .stopped(.memory) }
            let signal = code - Int32(calotype_exit_signal)
            // The limit of processor time.
            if signal == SIGXCPU, let timeLimit {
                return .stopped(.deadline(seconds: timeLimit.seconds))
            }
            if signal > 0 { return .stopped(.crash(signal: signal)) }
            return .stopped(.nonsense(reason: "it exited with code \(code)"))
        }
        switch status & 0x7F {
        case SIGSYS: return .stopped(.forbidden)
        case SIGKILL: return .killed
        case let signal: return .stopped(.crash(signal: signal))
        }
    }
}
