// SPDX-License-Identifier: Apache-2.0

internal import CSandbox
internal import EncodedImages
internal import Pixels
internal import Synchronization
#if canImport(Glibc)
    internal import Glibc
#endif

/// A worker process, seen from its host.
///
/// Whoever took it from its lane is alone with it.
final class Worker: Sendable {
    let layers: Set<SandboxLayer>
    private let process: Int32
    private let socket: Int32
    private let control: ControlPage
    /// What the worker has written there; it may still write to it.
    let room: MemoryMapping
    private let priority: WorkerPriority
    private let state = Mutex(State())

    private struct State {
        var lastRequest: UInt32 = 0
        var pictureCount = 0
        var hasEnded = false
        /// Whether its priority is lower than that of the host.
        var isLowered = false
    }

    /// Why there is no answer.
    enum Failure: Error {
        /// What the worker says of the picture, or that nobody waits for it any more.
        case codec(CodecError)
        /// The worker is of no use any more.
        case stopped(DecoderStop)
        /// Whoever takes the rows wants no more, while the worker is in the middle of them.
        case abandoned(CodecError)
        /// Somebody else killed the worker, which says nothing about the picture.
        case killed
    }

    /// What is said to a worker that hands rows over.
    typealias Proceed = (Message) throws(Failure) -> (body: [UInt8], descriptor: SharedDescriptor?)

    /// How long a worker may take.
    struct Patience {
        var seconds: Double
        /// The time while others wait for a worker.
        var contendedSeconds: Double?
        var isContended: () -> Bool = { false }

        /// The seconds that are over, if any are.
        func exceeded(after duration: Duration) -> Double? {
            if duration > .seconds(seconds) { return seconds }
            guard let contendedSeconds else { return nil }
            let isLong = duration > .seconds(contendedSeconds)
            return isLong && isContended() ? contendedSeconds : nil
        }
    }

    /// Starts a worker and waits until it has given up its rights.
    ///
    /// It dies with the thread that calls this.
    ///
    /// - Parameters:
    ///   - configuration: the program, and what holds for each of its processes.
    ///   - memoryByteCount: the bytes that it may allocate.
    ///   - priority: the scheduling priority of the workers of a sandbox.
    /// - Throws: ``CodecError/sandboxUnavailable(reason:)``.
    init(
        _ configuration: DecoderSandbox.Configuration, memoryByteCount: Int,
        priority: WorkerPriority
    ) throws(CodecError) {
        let shared = calotype_shared_memory(ControlPage.byteCount)
        guard shared >= 0 else { throw .sandboxUnavailable(reason: "no memory to share") }
        defer { close(shared) }
        guard let control = ControlPage(shared),
            let room = MemoryMapping(shared, byteCount: ControlPage.byteCount)
        else { throw .sandboxUnavailable(reason: "no memory to share") }
        control.memoryMegabytes = UInt32(clamping: memoryByteCount >> 20)
        control.seconds = UInt32(clamping: configuration.processorSeconds)
        var ends: (Int32, Int32) = (-1, -1)
        guard unsafe calotype_socket_pair(&ends.0, &ends.1) == 0 else {
            throw .sandboxUnavailable(reason: "no more files can be open")
        }
        var namespaces: UInt32 = 0
        let process = unsafe calotype_spawn(
            configuration.workerPath, ends.1, shared, &namespaces)
        close(ends.1)
        guard process > 0 else {
            close(ends.0)
            throw .sandboxUnavailable(
                reason: "\(configuration.workerPath): \(systemError(-process))")
        }
        self.process = process
        self.priority = priority
        self.control = control
        self.room = room
        socket = ends.0
        do throws(WireError) {
            layers = SandboxLayer.layers(try Self.readHello(ends.0) | namespaces)
        } catch {
            layers = []
            end()
            throw .sandboxUnavailable(
                reason: "\(configuration.workerPath) is \(error.reason)")
        }
        let missing = configuration.requiredLayers.subtracting(layers)
        if !missing.isEmpty {
            end()
            let names = missing.map(\.rawValue).sorted().joined(separator: ", ")
            throw .sandboxUnavailable(reason: "this system does not permit: \(names)")
        }
    }

    deinit { end() }

    /// What a worker says of itself when it has given up its rights.
    ///
    /// - Returns: the bits of its layers.
    /// - Throws: ``WireError``, saying what it is instead.
    private static func readHello(_ socket: Int32) throws(WireError) -> UInt32 {
        let other = WireError(reason: "a worker of another version")
        let deadline = ContinuousClock.now + .seconds(20)
        let hello: Message?
        do throws(WireError) {
            hello = try receive(socket, Message.maximumShortByteCount) { $0 > deadline }
        } catch {
            throw other
        }
        guard let hello, hello.kind == .hello else { throw WireError(reason: "no worker") }
        var reader = WireReader(hello.body)
        guard try reader.number() == WireLayout.fingerprint else { throw other }
        return UInt32(truncatingIfNeeded: try reader.number())
    }

    /// Whether it is not there any more.
    var hasEnded: Bool { state.withLock(\.hasEnded) }

    /// How many pictures it has been asked about.
    var pictureCount: Int { state.withLock { $0.pictureCount } }

    /// The processor time that it has used, in seconds.
    var processorSeconds: Double { calotype_processor_seconds(process) }

    /// Raises the priority of a worker that took long to that of the host.
    ///
    /// - Returns: whether it has that priority now.
    func restorePriority() -> Bool {
        state.withLock { state in
            guard state.isLowered, !state.hasEnded else { return true }
            state.isLowered = !priority.restore(process)
            return !state.isLowered
        }
    }

    private func lowerPriority() {
        state.withLock { state in
            if !state.hasEnded { state.isLowered = priority.lower(process) }
        }
    }

    /// Kills the worker, if it still is there.
    ///
    /// - Returns: its wait status, the first time.
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

    /// Asks the worker and waits for its answer.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - descriptors: open files that go along.
    ///   - patience: how long it may take.
    /// - Returns: the body of the answer.
    /// - Throws: ``Failure``.
    func ask(
        _ request: WorkerRequest, descriptors: [Int32], _ patience: Patience
    ) throws(Failure) -> [UInt8] {
        let number = state.withLock { state in
            state.pictureCount += request.kind == .nextFrame ? 0 : 1
            state.lastRequest &+= 1
            // 0 stands for no request.
            if state.lastRequest == 0 { state.lastRequest = 1 }
            return state.lastRequest
        }
        try send(Message(request.kind, number, request.body), descriptors)
        while true {
            let message = try answer(to: number, request, patience)
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
                throw .stopped(.nonsense(reason: "an answer of another kind"))
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
        // A worker that waits for a request has emptied its end, so there is room for a whole one.
        guard sent == bytes.count else { throw ended(nil) }
    }

    /// Waits for a message until there is no time left or the request is cancelled.
    private func answer(
        to number: UInt32, _ request: WorkerRequest, _ patience: Patience
    ) throws(Failure) -> Message {
        let start = ContinuousClock.now
        let startSeconds = processorSeconds
        var exceeded: Double?
        var grace: ContinuousClock.Instant?
        var isLowered = state.withLock(\.isLowered)
        let message: Message?
        do throws(WireError) {
            message = try Self.receive(socket, request.maximumAnswerByteCount) { now in
                if grace == nil, request.cancellation?.isCancelled == true {
                    control.cancelledRequest = number
                    grace = now + Self.cancellationGrace
                }
                if !isLowered, processorSeconds - startSeconds >= priority.secondsBeforeLowering {
                    isLowered = true
                    lowerPriority()
                }
                exceeded = patience.exceeded(after: now - start)
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
            throw ended(patience)
        }
        guard message.request == number else {
            throw .stopped(.nonsense(reason: "an answer to another request"))
        }
        return message
    }

    /// How long a worker has to notice that it is to stop before it is killed.
    private static let cancellationGrace = Duration.milliseconds(200)

    /// Receives a message, unless it `isOver` at a time before; that is asked now and then.
    private static func receive(
        _ socket: Int32, _ maximumByteCount: Int,
        whileNoneOf isOver: (ContinuousClock.Instant) -> Bool
    ) throws(WireError) -> Message? {
        var hasBegun = false
        return try Message(maximumByteCount: maximumByteCount) { bytes, place in
            // One that sends a byte now and then must not hold anybody up either.
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

    /// Why the worker is not there any more.
    private func ended(_ patience: Patience?) -> Failure {
        // It may have closed the connection and live on.
        guard let status = end(kills: true) else { return .killed }
        if status & 0x7F == 0 {
            let code = (status >> 8) & 0xFF
            if code == Int32(calotype_exit_memory) { return .stopped(.memory) }
            let signal = code - Int32(calotype_exit_signal)
            // All the time on a processor that it may have.
            if signal == SIGXCPU, let patience {
                return .stopped(.deadline(seconds: patience.seconds))
            }
            if signal > 0 { return .stopped(.crash(signal: signal)) }
            return .stopped(.nonsense(reason: "it left with code \(code)"))
        }
        switch status & 0x7F {
        case SIGSYS: return .stopped(.forbidden)
        case SIGKILL: return .killed
        case let signal: return .stopped(.crash(signal: signal))
        }
    }
}
