// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// An entry of a file, described by its own header.
struct ICOEntry {
    /// The largest icons on Windows have 256 pixels, those of other systems by the same tools 1024.
    static let largestSide = 1_024

    let bytes: Range<Int>
    let isPNG: Bool
    let size: PixelSize
    let bitsPerPixel: Int
    let bitsPerComponent: Int
    let colorModel: ImageHeader.ColorModel
    let hotSpot: (x: Int, y: Int)

    /// Reads a directory entry and the header of its image.
    ///
    /// - Parameters:
    ///   - file: the whole file.
    ///   - place: the offset of the 16-byte directory entry.
    ///   - limits: the limits for the file.
    /// - Throws: ``CodecError`` if the entry is truncated, invalid or too large.
    init(_ file: Span<UInt8>, at place: Int, limits: DecodeLimits) throws(CodecError) {
        guard let byteCount = file.littleEndian32(at: place + 8).map(Int.init),
            let offset = file.littleEndian32(at: place + 12).map(Int.init)
        else { throw .truncated(byteCount: file.count) }
        hotSpot = (
            file.littleEndian16(at: place + 4) ?? 0, file.littleEndian16(at: place + 6) ?? 0
        )
        // The header of either kind of entry; the rest is not needed to describe it.
        guard offset + 40 <= file.count else { throw .truncated(byteCount: file.count) }
        // Some encoders write the size without the header.
        bytes = offset..<(byteCount < 40 ? file.count : offset + byteCount)
        let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        isPNG = signature.indices.allSatisfy { file[offset + $0] == signature[$0] }
        if isPNG {
            let sides = [16, 20].map { file.bigEndian(at: offset + $0, byteCount: 4) }
            size = PixelSize(width: sides[0], height: sides[1])
            let colorType = file[offset + 25]
            let channelCount = [0: 1, 2: 3, 3: 1, 4: 2, 6: 4][colorType] ?? 4
            bitsPerComponent = Int(file[offset + 24])
            bitsPerPixel = bitsPerComponent * channelCount
            colorModel = colorType == 3 ? .palette : colorType & 2 == 0 ? .gray : .rgb
        } else {
            let header = try BMPHeader(file, at: offset, nil, limits: limits)
            size = PixelSize(width: header.size.width, height: max(1, header.size.height / 2))
            bitsPerPixel = header.bitsPerPixel
            bitsPerComponent = header.imageHeader.bitsPerComponent
            colorModel = header.imageHeader.colorModel
        }
        guard !size.isEmpty else {
            throw .malformed(reason: "invalid icon entry size: \(size)", offset: offset)
        }
        guard size.largestSide <= Self.largestSide else {
            throw .unsupported(
                feature: "icon of \(size) pixels; the largest side is \(Self.largestSide)")
        }
    }

    /// Reads the directory.
    ///
    /// - Returns: at least one entry; sorted by size, then by depth, both descending.
    /// - Throws: ``CodecError`` if no entry is valid, or one that may be the largest is beyond the
    ///   end of the file.
    static func all(
        of file: Span<UInt8>, _ kind: ICOCodec.Kind, limits: DecodeLimits
    ) throws(CodecError) -> [ICOEntry] {
        guard let count = file.littleEndian16(at: 4) else {
            throw .truncated(byteCount: file.count)
        }
        try limits.check(.frameCount, count)
        var entries: [ICOEntry] = []
        var failure = CodecError.malformed(reason: "icon directory has no entries", offset: 4)
        for index in 0..<count {
            let place = 6 + index * 16
            do throws(CodecError) {
                entries.append(try ICOEntry(file, at: place, limits: limits))
            } catch {
                if case .truncated = error { throw error }
                failure = error
            }
        }
        guard !entries.isEmpty else { throw failure }
        // The sort is not stable, so equal entries are ordered by position.
        return entries.enumerated().sorted {
            let (a, b) = ($0.element, $1.element)
            if a.size.area != b.size.area { return a.size.area > b.size.area }
            if a.bitsPerPixel != b.bitsPerPixel { return a.bitsPerPixel > b.bitsPerPixel }
            return $0.offset < $1.offset
        }.map(\.element)
    }

    /// Returns whether the entry has the proportions of `other` and no fewer colours.
    func isRendition(of other: ICOEntry) -> Bool {
        size.width * other.size.height == size.height * other.size.width
            && bitsPerPixel >= other.bitsPerPixel
    }
}
