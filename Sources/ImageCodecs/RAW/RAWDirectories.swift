// SPDX-License-Identifier: Apache-2.0

#if RAW
    internal import EncodedImages
    internal import Pixels

    /// The TIFF directories of a RAW file: whether they contain sensor data, and where the previews
    /// are.
    enum RAWDirectories {
        private enum Tag {
            static let compression = 0x0103
            static let photometric = 0x0106
            static let stripOffset = 0x0111
            static let stripByteCount = 0x0117
            static let subdirectories = 0x014A
            static let jpegOffset = 0x0201
            static let jpegByteCount = 0x0202
            static let panasonicJPEG = 0x002E
            static let dngVersion = 0xC612
        }

        /// The maximum number of directories that are read; a file may contain cycles.
        private static let maximumCount = 32

        /// Returns whether a TIFF file contains sensor data: a colour filter array, or DNG's
        /// LinearRaw.
        static func containSensorData(_ file: Span<UInt8>) -> Bool {
            guard let order = TIFFByteOrder(file), order.integer(file, at: 2, 2) == 42 else {
                return false
            }
            return all(file, order).contains { directory in
                if directory.entry(Tag.dngVersion) != nil { return true }
                let photometric = directory.entry(Tag.photometric)
                    .flatMap { order.integer(file, $0) }
                return photometric == 32_803 || photometric == 34_892
            }
        }

        /// Returns the ranges that may contain JPEG files.
        static func previewRanges(_ file: Span<UInt8>) -> [Range<Int>] {
            if ImageFormat.Signature(Array("FUJIFILMCCD-RAW".utf8)).matches(file) {
                guard let start = file.bigEndian(at: 84), let count = file.bigEndian(at: 88) else {
                    return []
                }
                return range(start, count, file)
            }
            guard let order = TIFFByteOrder(file) else { return [] }
            return all(file, order).flatMap { directory in
                func integer(_ tag: Int) -> Int {
                    directory.entry(tag).flatMap { order.integer(file, $0) } ?? 0
                }
                var ranges = range(integer(Tag.jpegOffset), integer(Tag.jpegByteCount), file)
                // 6 and 7 are JPEG; a single strip is a whole file.
                if [6, 7].contains(integer(Tag.compression)),
                    directory.entry(Tag.stripOffset)?.count == 1
                {
                    ranges += range(integer(Tag.stripOffset), integer(Tag.stripByteCount), file)
                }
                if let entry = directory.entry(Tag.panasonicJPEG) {
                    ranges += range(entry.value.lowerBound, entry.value.count, file)
                }
                return ranges
            }
        }

        private static func range(
            _ start: Int, _ count: Int, _ file: Span<UInt8>
        ) -> [Range<Int>] {
            guard start > 0, count > 100, start < file.count, count <= file.count - start,
                file[start] == 0xFF, file[start + 1] == 0xD8, file[start + 2] == 0xFF
            else { return [] }
            return [start..<start + count]
        }

        /// Returns the directories of the chain and their subdirectories.
        private static func all(
            _ file: Span<UInt8>, _ order: TIFFByteOrder
        ) -> [TIFFByteOrder.Directory] {
            var offsets = [order.firstDirectory(file)]
            var all: [TIFFByteOrder.Directory] = []
            while let offset = offsets.popLast(), all.count < maximumCount {
                guard !all.contains(where: { $0.offset == offset }),
                    let directory = order.directory(file, at: offset)
                else { continue }
                all.append(directory)
                if directory.next > 0 { offsets.append(directory.next) }
                if let entry = directory.entry(Tag.subdirectories) {
                    for index in 0..<min(entry.count, 8) {
                        if let offset = order.integer(file, entry, index) {
                            offsets.append(offset)
                        }
                    }
                }
            }
            return all
        }
    }

    extension Span<UInt8> {
        /// Returns the big-endian 32-bit integer at an offset, or `nil` beyond the end.
        fileprivate func bigEndian(at offset: Int) -> Int? {
            guard offset <= count - 4 else { return nil }
            return (0..<4).reduce(0) { $0 << 8 | Int(self[offset + $1]) }
        }
    }
#endif
