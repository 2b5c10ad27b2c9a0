// SPDX-License-Identifier: Apache-2.0

#if RAW
internal import EncodedImages

/// The TIFF directories of a RAW file: whether they contain sensor data, and where the previews
/// are.
enum RAWDirectories {
    /// The maximum number of directories that are read; a file may contain cycles.
    private static let maximumCount = 32

    /// Returns whether a TIFF file contains sensor data: a colour filter array, or DNG's
    /// LinearRaw.
    static func containSensorData(_ file: Span<UInt8>) -> Bool {
        guard let layout = TIFFLayout(file), layout.integer(file, at: 2, 2) == 42 else {
            return false
        }
        return all(file, layout).contains { directory in
            if directory.entry(.dngVersion) != nil { return true }
            let photometric = directory.integer(.photometricInterpretation, file)
            return photometric == 32_803 || photometric == 34_892
        }
    }

    /// Returns the ranges that may contain JPEG files.
    static func previewRanges(_ file: Span<UInt8>) -> [Range<Int>] {
        if ImageFormat.Signature(Array("FUJIFILMCCD-RAW".utf8)).matches(file) {
            guard let start = file.integer(at: 84, byteCount: 4),
                let count = file.integer(at: 88, byteCount: 4)
            else { return [] }
            return range(start, count, file)
        }
        guard let layout = TIFFLayout(file) else { return [] }
        return all(file, layout).flatMap { directory in
            func integer(_ tag: TIFFTag) -> Int { directory.integer(tag, file) ?? 0 }
            var ranges = range(
                integer(.jpegInterchangeFormat), integer(.jpegInterchangeFormatLength), file)
            // 6 and 7 are JPEG; a single strip is a whole file.
            if [6, 7].contains(integer(.compression)),
                directory.entry(.stripOffsets)?.count == 1
            {
                ranges += range(integer(.stripOffsets), integer(.stripByteCounts), file)
            }
            if let entry = directory.entry(.jpgFromRaw) {
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
        _ file: Span<UInt8>, _ layout: TIFFLayout
    ) -> [TIFFDirectory] {
        var offsets = [layout.firstDirectory(file)]
        var all: [TIFFDirectory] = []
        while let offset = offsets.popLast(), all.count < maximumCount {
            guard !all.contains(where: { $0.offset == offset }),
                let directory = layout.directory(file, at: offset)
            else { continue }
            all.append(directory)
            if directory.next > 0 { offsets.append(directory.next) }
            if let entry = directory.entry(.subIFDs) {
                for index in 0..<min(entry.count, 8) {
                    if let offset = directory.integer(entry, file, index) {
                        offsets.append(offset)
                    }
                }
            }
        }
        return all
    }
}
#endif
