// SPDX-License-Identifier: Apache-2.0

#if JPEG
    #if canImport(Glibc)
        internal import Glibc
    #else
        internal import Darwin
    #endif

    /// The data of a scan without the zero bytes that keep its values apart from markers.
    ///
    /// Bits can then be fetched eight bytes at a time, which is worth one pass over the bytes.
    struct EntropyCodedData {
        /// Room behind the last segment: a reader may look, and go, that far beyond it.
        static let margin = 512

        /// All segments one after the other, then ``margin`` zeros.
        private(set) var bytes: [UInt8] = []
        /// Where each segment begins and ends; restart markers stand between them.
        private(set) var segments: [Range<Int>] = []
        /// Where the scan ends in the file: at a marker, or at the end of a file that is cut short.
        private(set) var end: Int
        /// Whether restart markers are missing or in disorder.
        private(set) var hasLostMarkers = false

        /// - Parameters:
        ///   - file: the whole file.
        ///   - start: where the data begins.
        init(_ file: Span<UInt8>, from start: Int) {
            end = start
            let capacity = file.count - start
            bytes = unsafe Array(unsafeUninitializedCapacity: capacity + Self.margin) {
                result, count in
                unsafe file.withUnsafeBufferPointer { file in
                    guard let target = result.baseAddress, let source = file.baseAddress else {
                        return
                    }
                    unsafe count = copy(source, file.count, target)
                    unsafe (target + count).update(repeating: 0, count: Self.margin)
                    count += Self.margin
                }
            }
        }

        /// Units in each segment but the last.
        ///
        /// - Parameters:
        ///   - unitCount: units in the scan.
        ///   - restartInterval: units between two restart markers, or 0 for none.
        /// - Returns: at least 1.
        /// - Throws: ``ShrinkingStop/notHandled`` if the markers are not where they should be.
        func unitsPerSegment(
            unitCount: Int, restartInterval: Int
        ) throws(ShrinkingStop) -> Int {
            let interval = restartInterval == 0 ? unitCount : restartInterval
            guard segments.count == (unitCount + interval - 1) / interval, !hasLostMarkers else {
                throw .notHandled
            }
            return interval
        }

        /// Where the marker is that ends a scan beginning at `start`, or the file's end.
        static func end(_ file: Span<UInt8>, from start: Int) -> Int {
            unsafe file.withUnsafeBufferPointer { file in
                var offset = start
                while true {
                    offset = unsafe nextFF(file.baseAddress, offset, file.count)
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

        private mutating func copy(
            _ source: UnsafePointer<UInt8>, _ sourceCount: Int,
            _ target: UnsafeMutablePointer<UInt8>
        ) -> Int {
            var count = 0
            var segmentStart = 0
            var offset = end
            while true {
                let next = unsafe Self.nextFF(source, offset, sourceCount)
                unsafe (target + count).update(from: source + offset, count: next - offset)
                count += next - offset
                offset = next
                guard offset + 1 < sourceCount else { break }
                let marker = unsafe source[offset + 1]
                if marker == 0 {
                    unsafe target[count] = 0xFF
                    count += 1
                    offset += 2
                } else if (0xD0...0xD7).contains(marker) {
                    hasLostMarkers = hasLostMarkers || Int(marker & 7) != segments.count & 7
                    segments.append(segmentStart..<count)
                    segmentStart = count
                    offset += 2
                } else if marker == 0xFF {
                    offset += 1
                } else {
                    break
                }
            }
            segments.append(segmentStart..<count)
            end = offset
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
