// SPDX-License-Identifier: Apache-2.0

#if JPEG
#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif
internal import EncodedImages

/// The entropy-coded data of a scan without stuffed zero bytes (T.81 B.1.1.5): all of it, or a
/// sliding window.
///
/// Unstuffed data can be loaded eight bytes at a time, which outweighs the cost of the pass. A
/// window that fits into the processor's cache saves memory in proportion to the file.
struct EntropyCodedData {
    /// The number of bytes after the last one that a reader may load and consume.
    static let margin = 512
    /// The default number of bytes in a window.
    static let windowByteCount = 256 << 10

    /// The bytes in the window, followed by at least ``margin`` bytes, which are zeros at the
    /// end of the data.
    private(set) var bytes: [UInt8] = []
    /// The range of the data that is in the window.
    private(set) var window = 0..<0
    /// The ranges of the complete entropy-coded segments (T.81 B.1.1.5), which restart markers
    /// separate.
    private(set) var segments: [Range<Int>] = []
    /// The offset in the file at which the scan ends, once it is known: at a marker, or at the
    /// end of a truncated file.
    private(set) var end: Int
    /// Whether the window contains the end of the data.
    private(set) var isComplete = false
    /// Whether restart markers are missing or out of order.
    private(set) var hasMisplacedRestarts = false
    private var segmentStart = 0

    /// Extracts all the data.
    ///
    /// - Parameters:
    ///   - file: the whole file.
    ///   - start: the offset at which the data begins.
    ///   - releaseInput: releases the memory of a range of the file that has been read.
    init(
        _ file: Span<UInt8>, from start: Int,
        _ releaseInput: (@Sendable (Range<Int>) -> Void)? = nil
    ) {
        end = start
        let capacity = file.count - start
        var passed = PassedInput(from: start, releaseInput)
        bytes = unsafe Array(unsafeUninitializedCapacity: capacity + Self.margin) {
            result, count in
            guard let target = result.baseAddress else { return }
            while !isComplete {
                let reach = min(window.count + Self.windowByteCount, capacity)
                unsafe append(file, to: target, capacity: reach)
                passed.advance(to: end)
            }
            count = window.count + Self.margin
        }
    }

    /// Creates an empty window.
    ///
    /// - Parameters:
    ///   - start: the offset in the file at which the data begins.
    ///   - windowByteCount: the number of bytes in the window until more are requested.
    init(from start: Int, windowByteCount: Int) {
        end = start
        bytes = Array(repeating: 0, count: windowByteCount + Self.margin)
    }

    /// Moves the window forward if it does not contain the requested bytes.
    ///
    /// - Parameters:
    ///   - first: the first byte of the data that is needed, in the window or directly after
    ///     it.
    ///   - byteCount: the number of bytes requested; fewer may be left.
    ///   - file: the file of all windows.
    mutating func slide(to first: Int, byteCount: Int, _ file: Span<UInt8>) {
        guard first + byteCount > window.upperBound else { return }
        // Keeps accesses within the buffer even if the file changes while it is read.
        let passed = min(first, window.upperBound) - window.lowerBound
        let kept = window.count - passed
        window = first..<first + kept
        // Moved out of the property, because `append` mutates `self`.
        var bytes: [UInt8] = []
        swap(&bytes, &self.bytes)
        let missing = byteCount + Self.margin - bytes.count
        if missing > 0 { bytes += Array(repeating: 0, count: missing) }
        unsafe bytes.withUnsafeMutableBufferPointer { bytes in
            guard let target = bytes.baseAddress else { return }
            unsafe memmove(target, target + passed, kept)
            unsafe append(file, to: target, capacity: bytes.count - Self.margin)
        }
        swap(&bytes, &self.bytes)
    }

    /// Checks the restart markers.
    ///
    /// Call this when all of the data has been in the window.
    ///
    /// - Parameters:
    ///   - mcusPerSegment: MCUs between two markers.
    ///   - mcuCount: MCUs in the scan.
    /// - Returns: whether they are where they belong, and nowhere else.
    func hasSegments(of mcusPerSegment: Int, mcuCount: Int) -> Bool {
        segments.count == (mcuCount + mcusPerSegment - 1) / mcusPerSegment
            && !hasMisplacedRestarts
    }

    /// Returns the offset of the marker that ends a scan beginning at `start`, or the size of
    /// the file.
    static func end(
        _ file: Span<UInt8>, from start: Int,
        _ releaseInput: (@Sendable (Range<Int>) -> Void)? = nil
    ) -> Int {
        var passed = PassedInput(from: start, releaseInput)
        return unsafe file.withUnsafeBufferPointer { file in
            var offset = start
            while true {
                offset = unsafe nextFF(file.baseAddress, offset, file.count)
                passed.advance(to: offset)
                guard offset + 1 < file.count else { return file.count }
                let marker = unsafe file[offset + 1]
                if marker == 0 || (0xD0...0xD7).contains(marker) {
                    offset += 2
                } else if marker == 0xFF {
                    offset += 1
                } else {
                    return offset
                }
            }
        }
    }

    /// Appends data from the file to the window.
    ///
    /// - Parameters:
    ///   - file: the whole file.
    ///   - target: the start of the window; ``margin`` bytes follow `capacity` bytes.
    ///   - capacity: the maximum number of bytes in the window.
    @unsafe private mutating func append(
        _ file: Span<UInt8>, to target: UnsafeMutablePointer<UInt8>, capacity: Int
    ) {
        let count = unsafe file.withUnsafeBufferPointer { file in
            guard let source = file.baseAddress, !isComplete else { return window.count }
            return unsafe copy(source, file.count, target, capacity)
        }
        window = window.lowerBound..<window.lowerBound + count
        if isComplete { unsafe (target + count).update(repeating: 0, count: Self.margin) }
    }

    /// Copies data until the window is full or the scan ends.
    ///
    /// - Returns: the number of bytes in the window.
    @unsafe private mutating func copy(
        _ source: UnsafePointer<UInt8>, _ sourceCount: Int,
        _ target: UnsafeMutablePointer<UInt8>, _ capacity: Int
    ) -> Int {
        let first = window.lowerBound
        var count = window.count
        var offset = end
        defer { end = offset }
        while true {
            let reach = min(sourceCount, offset + capacity - count)
            let next = unsafe Self.nextFF(source, offset, reach)
            unsafe (target + count).update(from: source + offset, count: next - offset)
            count += next - offset
            offset = next
            guard count < capacity || offset == sourceCount else { return count }
            guard offset + 1 < sourceCount else { break }
            let marker = unsafe source[offset + 1]
            if marker == 0 {
                unsafe target[count] = 0xFF
                count += 1
                offset += 2
            } else if (0xD0...0xD7).contains(marker) {
                hasMisplacedRestarts =
                    hasMisplacedRestarts || Int(marker & 7) != segments.count & 7
                segments.append(segmentStart..<first + count)
                segmentStart = first + count
                offset += 2
            } else if marker == 0xFF {
                offset += 1
            } else {
                break
            }
        }
        segments.append(segmentStart..<first + count)
        isComplete = true
        return count
    }

    /// Returns the offset of the first 0xFF from `offset` to before `end`, or `end`.
    static func nextFF(_ file: Span<UInt8>, _ offset: Int, _ end: Int) -> Int {
        precondition(end <= file.count, "the end lies outside of the file")
        return unsafe file.withUnsafeBufferPointer { file in
            unsafe nextFF(file.baseAddress, offset, end)
        }
    }

    /// Returns the offset of the first 0xFF at or after `offset`, or `count`.
    private static func nextFF(
        _ bytes: UnsafePointer<UInt8>?, _ offset: Int, _ count: Int
    ) -> Int {
        guard let bytes = unsafe bytes, offset < count,
            let found = unsafe memchr(bytes + offset, 0xFF, count - offset)
        else { return count }
        return unsafe UnsafeRawPointer(found) - UnsafeRawPointer(bytes)
    }
}
#endif
