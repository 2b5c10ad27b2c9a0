// SPDX-License-Identifier: Apache-2.0

#if JPEG

/// Converts offsets in ``EntropyCodedData`` to offsets in the file, in ascending order.
///
/// The file also contains stuffed zero bytes, restart markers and fill bytes (T.81 B.1.1.5).
struct StuffedOffset {
    /// The offset in the file of the byte at ``dataOffset``, or of the marker before it.
    private var fileOffset: Int
    private var dataOffset = 0

    /// - Parameter start: the offset in the file at which the data begins.
    init(from start: Int) { fileOffset = start }

    /// Moves forward to a byte of the data.
    ///
    /// - Parameters:
    ///   - target: the offset in the data, not less than that of the last call.
    ///   - file: the whole file.
    /// - Returns: the offset in the file, at most the size of the file.
    mutating func advance(to target: Int, _ file: Span<UInt8>) -> Int {
        while fileOffset < file.count {
            let reach = min(file.count, fileOffset + target - dataOffset)
            let next = EntropyCodedData.nextFF(file, fileOffset, reach)
            dataOffset += next - fileOffset
            fileOffset = next
            guard fileOffset + 1 < file.count, file[fileOffset] == 0xFF else { break }
            let marker = file[fileOffset + 1]
            if marker == 0 {
                guard dataOffset < target else { break }
                dataOffset += 1
                fileOffset += 2
            } else if (0xD0...0xD7).contains(marker) {
                fileOffset += 2
            } else if marker == 0xFF {
                fileOffset += 1
            } else {
                break
            }
        }
        return fileOffset
    }
}
#endif
