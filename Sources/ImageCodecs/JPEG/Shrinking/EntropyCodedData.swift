// SPDX-License-Identifier: Apache-2.0

#if JPEG
    #if canImport(Glibc)
        internal import Glibc
    #else
        internal import Darwin
    #endif
    internal import EncodedImages

    /// The data of a scan without the zero bytes that keep its values apart from markers: all of it,
    /// or a window that slides over it.
    ///
    /// Bits can then be fetched eight bytes at a time, which is worth a pass over the bytes. A window
    /// that stays in the processor's cache saves memory in proportion to the file.
    struct EntropyCodedData {
        /// Room behind the last byte: a reader may look, and go, that far beyond it.
        static let margin = 512
        /// Bytes of a window.
        static let windowByteCount = 256 << 10

        /// What is in the window, then at least ``margin`` bytes, zeros if nothing else follows.
        private(set) var bytes: [UInt8] = []
        /// Which bytes of the data those of the window are.
        private(set) var window = 0..<0
        /// Where each segment that has ended begins and ends; restart markers stand between them.
        private(set) var segments: [Range<Int>] = []
        /// Where the scan ends in the file, once it has been found: at a marker, or at the end of a
        /// file that is cut short.
        private(set) var end: Int
        /// Whether nothing follows behind the window.
        private(set) var isComplete = false
        /// Whether restart markers are missing or in disorder.
        private(set) var hasLostMarkers = false
        private var segmentStart = 0

        /// All the data at once.
        ///
        /// - Parameters:
        ///   - file: the whole file.
        ///   - start: where the data begins.
        ///   - releaseInput: gives back the memory of what has been read of the file.
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

        /// No data as yet.
        ///
        /// - Parameters:
        ///   - start: where the data begins in the file.
        ///   - windowByteCount: bytes of the window as long as nobody needs more.
        init(from start: Int, windowByteCount: Int) {
            end = start
            bytes = Array(repeating: 0, count: windowByteCount + Self.margin)
        }

        /// Moves the window on if it does not hold all that is needed.
        ///
        /// - Parameters:
        ///   - first: the first byte of the data that is needed, in the window or just behind it.
        ///   - byteCount: how many are needed; there may be fewer.
        ///   - file: the file that all windows are taken from.
        mutating func slide(to first: Int, byteCount: Int, _ file: Span<UInt8>) {
            guard first + byteCount > window.upperBound else { return }
            // Whatever a file becomes while it is read, nobody reads beyond the buffer.
            let passed = min(first, window.upperBound) - window.lowerBound
            let kept = window.count - passed
            window = first..<first + kept
            // Taken out while both it and the rest change.
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

        /// Asked when all of the data has been in the window.
        ///
        /// - Parameters:
        ///   - unitsPerSegment: units between two markers.
        ///   - unitCount: units in the scan.
        /// - Returns: whether restart markers stand where they should, and nowhere else.
        func hasSegments(of unitsPerSegment: Int, unitCount: Int) -> Bool {
            segments.count == (unitCount + unitsPerSegment - 1) / unitsPerSegment
                && !hasLostMarkers
        }

        /// Where the marker is that ends a scan beginning at `start`, or the file's end.
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

        /// Takes more of the file behind what is in the window.
        ///
        /// - Parameters:
        ///   - file: the whole file.
        ///   - target: where the window begins; behind `capacity` bytes there are ``margin`` more.
        ///   - capacity: as many bytes as fit into the window.
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

        /// - Returns: how many bytes there are in the window then.
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
                    hasLostMarkers = hasLostMarkers || Int(marker & 7) != segments.count & 7
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

        /// The first 0xFF from `offset` on, or `count`.
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
