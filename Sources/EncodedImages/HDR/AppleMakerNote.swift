// SPDX-License-Identifier: Apache-2.0

/// The part of the maker note of Apple's cameras that concerns gain maps.
///
/// - SeeAlso: Apple, *Applying Apple HDR effect to your photos*.
enum AppleMakerNote {
    /// The logarithm to base 2 of the largest headroom that the cameras write.
    static let maximumHeadroom = 3.0
    private static let name = Array("Apple iOS\0".utf8)
    /// The offset of the byte order, which the directory follows.
    private static let byteOrderOffset = 12

    /// Returns the logarithm to base 2 of the headroom.
    ///
    /// - Parameter block: an EXIF block.
    /// - Returns: `nil` if the maker note is missing or another one.
    static func headroom(inEXIF block: Span<UInt8>) -> Double? {
        guard let layout = TIFFLayout(block),
            let exposure = layout.directory(block, at: layout.firstDirectory(block))?
                .directory(.exifIFD, block),
            let entry = exposure.entry(.makerNote)
        else { return nil }
        let note = exposure.bytes(entry, block)
        guard note.starts(with: name), note.count > byteOrderOffset + 2 else { return nil }
        let isLittleEndian = note[byteOrderOffset] == UInt8(ascii: "I")
        // Offsets are relative to the note.
        guard
            let directory = TIFFLayout(isLittleEndian ? .littleEndian : .bigEndian)
                .directory(note.span, at: byteOrderOffset + 2),
            let first = directory.rational(.appleHDRHeadroom, note.span)?.value,
            let second = directory.rational(.appleHDRGain, note.span)?.value
        else { return nil }
        let stops =
            switch (first < 1, second <= 0.01) {
            case (true, true): -20 * second + 1.8
            case (true, false): -0.101 * second + 1.601
            case (false, true): -70 * second + 3.0
            case (false, false): -0.303 * second + 2.303
            }
        return max(stops, 0)
    }
}
