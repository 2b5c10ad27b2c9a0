// SPDX-License-Identifier: Apache-2.0

/// A marker segment of a JPEG file (ITU-T T.81, annex B).
struct JPEGSegment {
    /// The marker code: the byte after 0xFF.
    var marker: UInt8
    /// The parameters after the length.
    var payload: [UInt8]
    /// The entropy-coded data after SOS as stored, with stuffed zeros and restart markers, up to
    /// the next other marker.
    var codedData: [UInt8] = []

    static let startOfImage: UInt8 = 0xD8
    static let endOfImage: UInt8 = 0xD9
    static let startOfScan: UInt8 = 0xDA
    static let quantizationTables: UInt8 = 0xDB
    static let restartInterval: UInt8 = 0xDD
    static let huffmanTables: UInt8 = 0xC4
    static let comment: UInt8 = 0xFE
    static let restartMarkers: ClosedRange<UInt8> = 0xD0...0xD7
    /// Whether the marker is one of SOF0 to SOF15, without DHT, JPG and DAC.
    static let startsOfFrame = Set<UInt8>(0xC0...0xCF).subtracting([0xC4, 0xC8, 0xCC])

    /// Parses the segments between SOI and EOI.
    ///
    /// - Parameter file: the complete file.
    /// - Returns: all segments in file order.
    /// - Throws: ``PlainJPEGError/damaged(_:)``.
    static func all(in file: [UInt8]) throws -> [JPEGSegment] {
        guard file.starts(with: [0xFF, startOfImage]) else {
            throw PlainJPEGError.damaged("no start of image")
        }
        var segments: [JPEGSegment] = []
        var offset = 2
        while offset < file.count {
            guard file[offset] == 0xFF else {
                throw PlainJPEGError.damaged("no marker at byte \(offset)")
            }
            // Any number of fill bytes 0xFF may precede a marker.
            while offset < file.count, file[offset] == 0xFF { offset += 1 }
            guard offset < file.count else { break }
            let marker = file[offset]
            offset += 1
            if marker == endOfImage { break }
            // Standalone markers have no length (B.1.1.3) and are invalid between segments.
            guard marker > 1, !restartMarkers.contains(marker), marker != startOfImage else {
                throw PlainJPEGError.damaged("marker \(marker) between segments")
            }
            guard offset + 2 <= file.count else { throw PlainJPEGError.damaged("no length") }
            let length = Int(file[offset]) << 8 + Int(file[offset + 1])
            guard length >= 2, offset + length <= file.count else {
                throw PlainJPEGError.damaged("length of marker \(marker)")
            }
            var segment = JPEGSegment(
                marker: marker, payload: Array(file[offset + 2..<offset + length]))
            offset += length
            if marker == startOfScan {
                let end = endOfCodedData(in: file, from: offset)
                segment.codedData = Array(file[offset..<end])
                offset = end
            }
            segments.append(segment)
        }
        return segments
    }

    /// Returns the offset of the first marker that is not RSTn, including preceding fill bytes.
    private static func endOfCodedData(in file: [UInt8], from start: Int) -> Int {
        var offset = start
        while offset < file.count {
            guard file[offset] == 0xFF else {
                offset += 1
                continue
            }
            var next = offset
            while next < file.count, file[next] == 0xFF { next += 1 }
            guard next < file.count, file[next] == 0 || restartMarkers.contains(file[next]) else {
                return offset
            }
            offset = next + 1
        }
        return offset
    }
}

/// An error of ``PlainJPEG``.
public enum PlainJPEGError: Error, Equatable {
    /// The file violates the specification.
    case damaged(String)
    /// The file is valid but not supported by this decoder.
    case unsupported(String)
}
