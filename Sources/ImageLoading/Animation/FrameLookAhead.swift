// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import LoadScheduling
internal import Pixels
internal import Synchronization

/// Decodes an animation some frames ahead of the one that is shown, one frame at a time.
///
/// Memory: from the first frame on, the memory for composing and for the frame that is shown is
/// reserved, and each frame ahead separately. Where there is no memory for a frame ahead, the next one
/// is decoded on request, in the memory of the one that is shown.
final class FrameLookAhead: PlayedAnimation {
    fileprivate typealias Answer = Result<AnimationFrame?, LoadError>

    fileprivate struct Ahead {
        let frame: AnimationFrame
        let place: FramePlace
        let reservation: MemoryReservation?
    }

    fileprivate struct State {
        /// The memory for composing and for the frame that is shown; `nil` before the first request.
        var base: MemoryReservation?
        var options: DecodeOptions
        /// The number of bytes of a frame.
        var byteCount = 0
        var countAhead: Int
        var level = MemoryPressureLevel.normal
        /// Whether nothing is decoded until a frame is requested.
        var isResting = false
        /// Whether a decode has begun, so that the memory of the shown frame is in use.
        var hasBegun = false
        var ahead: [Ahead] = []
        /// The place of the frame behind those that are ahead.
        var nextPlace = FramePlace()
        var isDecoding = false
        var ticket: WorkQueue.Ticket?
        var waiter: CheckedContinuation<Answer, Never>?
        /// The end or the error that follows the frames ahead.
        var end: Answer?
        var isOver = false

        /// The number of frames that may be ahead now.
        var allowedCount: Int {
            guard !isResting, byteCount > 0 else { return 0 }
            let count = min(countAhead, ImageAnimation.maximumByteCountAhead / byteCount)
            return switch level {
            case .normal: count
            case .warning: count / 2
            case .critical: 0
            }
        }
    }

    private let animation: ImageAnimation
    private let resources: PipelineResources
    let cancellation = CancellationFlag()
    private let state: Mutex<State>
    /// A lock: held by the decode that runs.
    private let cursor: Mutex<FrameCursor>

    init(_ animation: ImageAnimation) {
        self.animation = animation
        resources = animation.resources
        state = Mutex(
            State(options: animation.request.options, countAhead: animation.countAhead))
        cursor = Mutex(FrameCursor(animation, cancellation))
        resources.playing.add(self)
    }

    /// Returns the next frame, which is then the one that is shown.
    func next() async throws(LoadError) -> AnimationFrame? {
        try await reserveBase()
        let answer = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                wait(continuation)
                fill()
            }
        } onCancel: {
            stop()
        }
        return try answer.get()
    }

    /// Ends everything; a decode that runs ends at its next row.
    func stop() {
        cancellation.cancel()
        let (waiter, ticket, freed) = state.withLock { state in
            state.isOver = true
            defer { (state.ahead, state.base) = ([], nil) }
            return (state.waiter.take(), state.ticket.take(), (state.ahead, state.base))
        }
        resources.playing.remove(self)
        if let ticket { resources.queues.decodes.remove(ticket) }
        waiter?.resume(returning: .failure(.cancelled))
        withExtendedLifetime(freed) {}
    }

    /// Decodes half as many frames ahead on a warning, and none while memory is critical.
    func respond(to level: MemoryPressureLevel) {
        let freed = state.withLock { state in
            state.level = level
            return state.drop(from: state.allowedCount)
        }
        withExtendedLifetime(freed) {}
    }

    /// Releases the frames ahead; they are decoded again on request.
    func dropAhead() {
        let freed = state.withLock { state in
            state.isResting = true
            return state.drop(from: 0)
        }
        withExtendedLifetime(freed) {}
    }

    /// Waits for the memory for composing and one frame.
    private func reserveBase() async throws(LoadError) {
        guard state.withLock({ $0.base == nil && !$0.isOver && $0.end == nil }) else { return }
        var options = animation.request.options
        while true {
            let byteCount = animation.source.frameByteCount(options)
            do throws(LoadError) {
                let base = try await resources.budget.reserve(
                    animation.source.compositionByteCount + byteCount, animation.urgency)
                return state.withLock { state in
                    // Released at once if it was stopped meanwhile.
                    if !state.isOver { state.base = base }
                    (state.options, state.byteCount) = (options, byteCount)
                }
            } catch {
                guard case .memoryBudgetExceeded = error, animation.request.acceptsSmaller,
                    let smaller = options.halved(animation.source)
                else { throw error }
                options = smaller
            }
        }
    }

    private func wait(_ continuation: CheckedContinuation<Answer, Never>) {
        let (answer, freed) = state.withLock { state -> (Answer?, MemoryReservation?) in
            state.isResting = false
            if state.isOver { return (.failure(.cancelled), nil) }
            if !state.ahead.isEmpty {
                // From now on this frame uses the memory of the frame that is shown.
                let first = state.ahead.removeFirst()
                return (.success(first.frame), first.reservation)
            }
            if let end = state.takeEnd() { return (end, nil) }
            state.waiter = continuation
            return (nil, nil)
        }
        freed?.release()
        guard let answer else { return }
        if (try? answer.get()) == nil { shrinkBase() }
        continuation.resume(returning: answer)
    }

    /// Begins the next decode if a frame is needed and there is memory for it.
    private func fill() {
        let isFirst = state.withLock { state -> Bool? in
            guard !state.isOver, !state.isDecoding, state.end == nil,
                state.waiter != nil || state.ahead.count < state.allowedCount
            else { return nil }
            state.isDecoding = true
            defer { state.hasBegun = true }
            return !state.hasBegun
        }
        guard let isFirst else { return }
        let byteCount = state.withLock { $0.byteCount }
        let room = isFirst ? nil : resources.budget.tryReserve(byteCount)
        state.withLock { state in
            guard !state.isOver, isFirst || room != nil || state.waiter != nil else {
                state.isDecoding = false
                return
            }
            do throws(LoadError) {
                let (place, options, base) = (state.nextPlace, state.options, state.base)
                state.ticket = try resources.queues.decodes.submit(animation.urgency.priority) {
                    [self] in
                    decode(place, options, room)
                    withExtendedLifetime(base) {}
                }
            } catch {
                state.isDecoding = false
                // A frame ahead may be decoded later.
                if state.waiter != nil { state.end = .failure(error) }
            }
        }
        deliverEnd()
    }

    private func decode(
        _ place: FramePlace, _ options: DecodeOptions, _ room: MemoryReservation?
    ) {
        let result = cursor.withLock { cursor in
            Result { () throws(CodecError) in try cursor.frame(at: place, options) }
        }
        switch result {
        case .success((let frame, let found)?):
            let room = room.map { charge($0, frame.image.byteCount) }
            finish(Ahead(frame: frame, place: found, reservation: room), from: place)
        case .success(nil):
            finish(.success(nil), from: place)
        case .failure(let error):
            finish(
                .failure(LoadError(decoding: animation.request.source.name, error)), from: place)
        }
        fill()
    }

    /// Adjusts a reservation to the size of a frame, which processors may have changed.
    private func charge(_ room: MemoryReservation, _ byteCount: Int) -> MemoryReservation {
        room.shrink(to: byteCount)
        guard room.byteCount < byteCount else { return room }
        return resources.budget.tryReserve(byteCount) ?? room
    }

    private func finish(_ frame: Ahead, from place: FramePlace) {
        let waiter = state.withLock { state -> CheckedContinuation<Answer, Never>? in
            state.isDecoding = false
            // The frames before it may have been released meanwhile.
            guard !state.isOver, place == state.nextPlace else { return nil }
            if let waiter = state.waiter.take() {
                state.nextPlace = frame.place.next
                return waiter
            }
            guard state.ahead.count < state.allowedCount else { return nil }
            state.nextPlace = frame.place.next
            state.ahead.append(frame)
            return nil
        }
        guard let waiter else { return }
        frame.reservation?.release()
        waiter.resume(returning: .success(frame.frame))
    }

    private func finish(_ end: Answer, from place: FramePlace) {
        state.withLock { state in
            state.isDecoding = false
            guard place == state.nextPlace else { return }
            state.end = end
        }
        deliverEnd()
    }

    /// Releases the memory for composing; the frame that is shown stays.
    private func shrinkBase() {
        let (base, byteCount) = state.withLock { ($0.base, $0.byteCount) }
        base?.shrink(to: byteCount)
    }

    private func deliverEnd() {
        let told = state.withLock { state -> (CheckedContinuation<Answer, Never>, Answer)? in
            guard let waiter = state.waiter, let end = state.takeEnd() else { return nil }
            state.waiter = nil
            return (waiter, end)
        }
        guard let (waiter, end) = told else { return }
        shrinkBase()
        waiter.resume(returning: end)
    }
}

extension FrameLookAhead.State {
    /// Returns the end or the error once; afterwards there are no frames.
    fileprivate mutating func takeEnd() -> FrameLookAhead.Answer? {
        guard ahead.isEmpty, let end else { return nil }
        self.end = .success(nil)
        return end
    }

    /// Removes the frames ahead after the first `count`.
    ///
    /// - Returns: the removed frames, to be freed outside of the lock.
    fileprivate mutating func drop(from count: Int) -> [FrameLookAhead.Ahead] {
        guard count < ahead.count else { return [] }
        let dropped = Array(ahead[count...])
        nextPlace = dropped[0].place
        end = nil
        ahead.removeSubrange(count...)
        return dropped
    }
}

extension ImageSource {
    /// Returns the number of bytes of each frame of ``frames(_:cancellation:)``.
    fileprivate func frameByteCount(_ options: DecodeOptions) -> Int {
        let byteCount = resultByteCount(options)
        guard header.frameCount > 1 else { return byteCount }
        return max(byteCount, PixelBuffer.byteCount(of: resultSize(options), .rgba8))
    }
}
