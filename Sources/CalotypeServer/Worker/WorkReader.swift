// SPDX-License-Identifier: Apache-2.0

internal import DecoderSandbox
internal import EncodedImages
internal import Glibc
internal import ImageCommands

/// Reads requests and the bytes that follow them from a pipe.
struct WorkReader {
    /// A request, and the bytes of its source if it passes them.
    struct Item: Sendable {
        let request: WorkRequest
        /// The bytes, or why they are refused; `nil` if the source is read from its address.
        let bytes: Result<EncodedBytes, WorkError>?
    }

    private static let maximumLineByteCount = 1 << 20
    /// The size from which sources are moved instead of copied.
    ///
    /// Up to half of a smaller one has already been read with its line.
    private static let leastSharedByteCount = 1 << 17
    private static let earlyEnd = WorkError(
        .request, "the input ends within the bytes of a source")

    private let descriptor: Int32
    private let isPipe: Bool
    private let maximumByteCount: Int
    private let isInterrupted: @Sendable () -> Bool
    private var bytes: [UInt8] = []
    private var start = 0
    private var isAtEnd = false

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - descriptor: standard input, usually a pipe.
    ///   - maximumByteCount: the maximum number of bytes of a source; more are skipped.
    ///   - isInterrupted: checked while nothing arrives; ends the requests.
    init(
        _ descriptor: Int32, maximumByteCount: Int, isInterrupted: @escaping @Sendable () -> Bool
    ) {
        self.descriptor = descriptor
        var status = stat()
        isPipe = unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
        self.maximumByteCount = maximumByteCount
        self.isInterrupted = isInterrupted
    }

    /// Returns the next request; `nil` at the end and after an interruption, also within a request: the
    /// client repeats requests without a response.
    ///
    /// - Throws: ``WorkError`` if the line is not a request. The reader is then at its end: what follows
    ///   may be bytes of a source, which must not be read as requests.
    mutating func next() throws(WorkError) -> Item? {
        guard !isInterrupted() else { return nil }
        do throws(WorkError) {
            guard let line = try line() else { return nil }
            let request = try WorkRequest(parsing: bytes[line])
            guard let count = request.byteCount else { return Item(request: request, bytes: nil) }
            guard count <= maximumByteCount else {
                try skip(count)
                return Item(
                    request: request,
                    bytes: .failure(
                        WorkError(
                            .limit,
                            "limit byteCount exceeded: \(count) needed, \(maximumByteCount) allowed"
                        )))
            }
            return Item(request: request, bytes: .success(try body(count)))
        } catch {
            isAtEnd = true
            bytes = []
            start = 0
            guard !isInterrupted() else { return nil }
            throw error
        }
    }

    /// Returns the range of the next line in the buffer.
    private mutating func line() throws(WorkError) -> Range<Int>? {
        var searched = start
        while true {
            if let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { start = end + 1 }
                return start..<end
            }
            guard bytes.count - start <= Self.maximumLineByteCount else {
                throw WorkError(.request, "a line is longer than 1 MiB")
            }
            bytes.removeFirst(start)
            start = 0
            searched = bytes.count
            guard try fill() else {
                guard bytes.isEmpty else {
                    throw WorkError(.request, "the input ends within a line")
                }
                return nil
            }
        }
    }

    private mutating func body(_ count: Int) throws(WorkError) -> EncodedBytes {
        let buffered = bytes[start...].prefix(count)
        start = buffered.endIndex
        if isPipe, count >= Self.leastSharedByteCount, let memory = SharedBytes() {
            return try shared(memory, buffered, count)
        }
        var failure: WorkError?
        let body = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
            initializedCount = unsafe buffer.initialize(fromContentsOf: buffered)
            while initializedCount < count {
                let room = unsafe UnsafeMutableRawBufferPointer(
                    rebasing: UnsafeMutableRawBufferPointer(buffer)[initializedCount...])
                switch unsafe receive(into: room) {
                case .success(0): failure = Self.earlyEnd
                case .success(let received): initializedCount += received
                case .failure(let error): failure = error
                }
                if failure != nil { return }
            }
        }
        if let failure { throw failure }
        return EncodedBytes(body)
    }

    /// Moves a source from the pipe to memory that decoders map.
    private func shared(
        _ memory: consuming SharedBytes, _ buffered: ArraySlice<UInt8>, _ count: Int
    ) throws(WorkError) -> EncodedBytes {
        guard memory.append(buffered.span) else { throw Self.noMemory(count) }
        while memory.count < count {
            let remaining = count - memory.count
            let received = try receive { memory.append(first: remaining, of: descriptor) }.get()
            guard received > 0 else { throw Self.earlyEnd }
        }
        guard let bytes = memory.finish() else { throw Self.noMemory(count) }
        return bytes
    }

    private static func noMemory(_ count: Int) -> WorkError {
        WorkError(.environment, "no shared memory for \(count) bytes: \(lastSystemError())")
    }

    private mutating func skip(_ count: Int) throws(WorkError) {
        var remaining = count
        while true {
            let skipped = min(remaining, bytes.count - start)
            start += skipped
            remaining -= skipped
            if remaining == 0 { return }
            bytes = []
            start = 0
            guard try fill() else { throw Self.earlyEnd }
        }
    }

    /// Appends what has arrived to the buffer; returns `false` at the end.
    private mutating func fill() throws(WorkError) -> Bool {
        guard !isAtEnd else { return false }
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        let count = try unsafe chunk.withUnsafeMutableBytes { unsafe receive(into: $0) }.get()
        isAtEnd = count == 0
        bytes += chunk[..<count]
        return count > 0
    }

    private func receive(
        into room: UnsafeMutableRawBufferPointer
    ) -> Result<Int, WorkError> {
        receive {
            let count = unsafe read(descriptor, room.baseAddress, room.count)
            return count < 0 ? nil : count
        }
    }

    /// Waits for bytes and calls `take`; returns their number, 0 at the end and after an interruption.
    private func receive(_ take: () -> Int?) -> Result<Int, WorkError> {
        while !isInterrupted() {
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            // Signals do not interrupt the wait: their dispositions are those of dispatch sources.
            let state = unsafe poll(&waiting, 1, 200)
            if state == 0 { continue }
            if state > 0, let count = take() { return .success(count) }
            guard errno == EINTR || errno == EAGAIN else {
                return .failure(WorkError(.request, "standard input: \(lastSystemError())"))
            }
        }
        return .success(0)
    }
}
