// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// A bitmap header with its masks and colour table.
///
/// Icons have one too, without a file header.
struct BMPHeader {
    enum Compression: Equatable {
        case none, rle4, rle8, rle24, bitFields, alphaBitFields, huffman, jpeg, png
    }

    let size: PixelSize
    /// Whether rows are stored top-down.
    let isTopDown: Bool
    let bitsPerPixel: Int
    let compression: Compression
    /// The channel masks; used only for 16-bit and 32-bit pixels.
    var masks: BMPMasks
    /// The colour table as RGB.
    let palette: [UInt8]
    /// The offset of the pixels.
    let dataOffset: Int
    /// The size of the compressed image in the header, in bytes.
    let dataByteCount: Int
    private var facts: [ImageHeader.Fact] = []
    private var colorProfile = ColorProfile.sRGB

    /// Parses a bitmap header, its masks and its colour table.
    ///
    /// - Parameters:
    ///   - file: the whole file.
    ///   - start: the offset of the bitmap header.
    ///   - fileHeader: the file header; `nil` in an icon, whose pixels follow the colour table.
    ///   - limits: the limit of the colour profile's size.
    /// - Throws: ``CodecError`` if the header is truncated, invalid or unsupported.
    init(
        _ file: Span<UInt8>, at start: Int, _ fileHeader: BMPFileHeader?, limits: DecodeLimits
    ) throws(CodecError) {
        guard let byteCount = file.littleEndian32(at: start).map(Int.init) else {
            throw .truncated(byteCount: file.count)
        }
        guard byteCount == 12 || (16...64).contains(byteCount) || [108, 124].contains(byteCount)
        else { throw .malformed(reason: "invalid bitmap header size: \(byteCount)", offset: start) }
        guard file.count >= start + byteCount else { throw .truncated(byteCount: file.count) }
        let fields = file.extracting(start..<start + byteCount)
        /// Returns a field; fields beyond a short header are 0.
        func number(_ offset: Int) -> UInt32 { fields.littleEndian32(at: offset) ?? 0 }

        let isOldest = byteCount == 12
        bitsPerPixel = fields.littleEndian16(at: isOldest ? 10 : 14) ?? 0
        (size, isTopDown) = try Self.size(fields, isOldest: isOldest, offset: start + 4)
        compression = try Self.compression(
            number(16), bitsPerPixel, isOS2: byteCount == 64, offset: start + 16)
        dataByteCount = Int(number(20))

        let maskCount =
            switch compression {
            case .bitFields where byteCount < 52: 3
            case .alphaBitFields where byteCount < 52: 4
            default: 0
            }
        let masksEnd = start + byteCount + maskCount * 4
        guard file.count >= masksEnd else { throw .truncated(byteCount: file.count) }
        masks = BMPMasks(
            file, at: start + 40, compression, bitsPerPixel,
            count: maskCount > 0 ? maskCount : byteCount >= 56 && byteCount != 64 ? 4 : 3,
            isIcon: fileHeader == nil)

        let bytesPerColor = isOldest ? 3 : 4
        let stated = number(32) == 0 ? bitsPerPixel <= 8 ? 1 << bitsPerPixel : 0 : Int(number(32))
        // Pixels cannot overlap the colour table; an offset that claims so is ignored.
        let statedOffset = fileHeader.map(\.dataOffset) ?? 0
        let room =
            statedOffset >= masksEnd ? (statedOffset - masksEnd) / bytesPerColor : Int(UInt32.max)
        let isIndexed = (1...8).contains(bitsPerPixel)
        let colorCount = isIndexed ? min(stated, room, 1 << bitsPerPixel) : 0
        guard !isIndexed || colorCount > 0 else {
            throw .malformed(reason: "missing colour table", offset: masksEnd)
        }
        palette = try Self.palette(
            file, at: masksEnd, colorCount: colorCount, bytesPerColor: bytesPerColor)
        dataOffset =
            statedOffset >= masksEnd
            ? statedOffset
            : masksEnd + (fileHeader == nil ? min(stated, 256) : colorCount) * bytesPerColor

        if byteCount >= 108 {
            colorProfile = try BMPColorSpace.profile(
                file, at: start, byteCount, statedByteCount: fileHeader?.statedByteCount ?? 0,
                limits: limits)
        }
        facts = Self.facts(fields, compression)
    }

    /// The distance of rows in bytes, a multiple of 4.
    var rowByteCount: Int { (size.width * bitsPerPixel + 31) / 32 * 4 }

    /// The number of bytes of a row without padding.
    var usedRowByteCount: Int { (size.width * bitsPerPixel + 7) / 8 }

    /// Returns whether the file contains all pixels of an uncompressed image.
    ///
    /// Some encoders omit the padding of the last row.
    func hasAllRows(fileByteCount: Int) -> Bool {
        let (rows, overflow) = rowByteCount.multipliedReportingOverflow(by: size.height - 1)
        return !overflow && rows <= fileByteCount
            && dataOffset + rows + usedRowByteCount <= fileByteCount
    }

    var imageHeader: ImageHeader {
        let isIndexed = !palette.isEmpty
        var header = ImageHeader(
            storedSize: size, colorModel: isIndexed ? .palette : .rgb,
            bitsPerComponent: isIndexed
                ? bitsPerPixel : bitsPerPixel == 64 ? 16 : masks.maximumBitsPerComponent)
        header.hasAlpha = masks.alpha != 0 || bitsPerPixel == 64
        header.colorProfile = colorProfile
        header.facts = facts
        return header
    }

    private static func size(
        _ fields: Span<UInt8>, isOldest: Bool, offset: Int
    ) throws(CodecError) -> (PixelSize, isTopDown: Bool) {
        let width: Int
        let height: Int
        if isOldest {
            width = fields.littleEndian16(at: 4) ?? 0
            height = fields.littleEndian16(at: 6) ?? 0
        } else {
            width = Int(Int32(truncatingIfNeeded: fields.littleEndian32(at: 4) ?? 0))
            height = Int(Int32(truncatingIfNeeded: fields.littleEndian32(at: 8) ?? 0))
        }
        guard width > 0, height != 0 else {
            throw .malformed(reason: "invalid bitmap size: \(width) × \(height)", offset: offset)
        }
        return (PixelSize(width: width, height: abs(height)), height < 0)
    }

    private static func palette(
        _ file: Span<UInt8>, at start: Int, colorCount: Int, bytesPerColor: Int
    ) throws(CodecError) -> [UInt8] {
        let end = start + colorCount * bytesPerColor
        guard file.count >= end else { throw .truncated(byteCount: file.count) }
        var palette: [UInt8] = []
        palette.reserveCapacity(colorCount * 3)
        for color in stride(from: start, to: end, by: bytesPerColor) {
            palette += [file[color + 2], file[color + 1], file[color]]
        }
        return palette
    }

    private static func compression(
        _ number: UInt32, _ bitsPerPixel: Int, isOS2: Bool, offset: Int
    ) throws(CodecError) -> Compression {
        let compression: Compression? =
            switch (number, bitsPerPixel) {
            case (0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 24), (0, 32), (0, 64):
                Compression.none
            case (1, 8): .rle8
            case (2, 4): .rle4
            // OS/2 assigns other meanings to some values; the bit depth distinguishes them.
            case (3, 1): .huffman
            case (4, 24): .rle24
            case (3, 16), (3, 32): .bitFields
            case (6, 16), (6, 32): .alphaBitFields
            case (4, 0): .jpeg
            case (5, 0): .png
            default: nil
            }
        guard let compression else {
            throw .malformed(
                reason: "invalid compression \(number) with \(bitsPerPixel) bits per pixel",
                offset: offset)
        }
        return compression
    }

    private static func facts(
        _ fields: Span<UInt8>, _ compression: Compression
    ) -> [ImageHeader.Fact] {
        let versions = [
            12: "OS/2 1", 40: "Windows 3", 52: "Windows, version 2", 56: "Windows, version 3",
            108: "Windows, version 4", 124: "Windows, version 5",
        ]
        let names: [(Compression, String)] = [
            (.rle4, "RLE4"), (.rle8, "RLE8"), (.rle24, "RLE24"), (.bitFields, "bit fields"),
            (.alphaBitFields, "bit fields"), (.huffman, "Huffman"), (.jpeg, "JPEG"), (.png, "PNG"),
        ]
        var facts = [ImageHeader.Fact("bitmap header", versions[fields.count] ?? "OS/2 2")]
        if let name = names.first(where: { $0.0 == compression })?.1 {
            facts.append(.init("compression", name))
        }
        let horizontal = Int32(truncatingIfNeeded: fields.littleEndian32(at: 24) ?? 0)
        let vertical = Int32(truncatingIfNeeded: fields.littleEndian32(at: 28) ?? 0)
        if horizontal > 0, vertical > 0 {
            facts.append(.init("pixels per metre", "\(horizontal)x\(vertical)"))
        }
        return facts
    }
}
