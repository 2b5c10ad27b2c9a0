// SPDX-License-Identifier: Apache-2.0

#if TIFF
internal import CTIFF
internal import EncodedImages
internal import Pixels

/// An image that a directory describes, checked before libtiff reads its pixels.
struct TIFFImage {
    /// What the samples of a pixel mean.
    enum Model: Equatable {
        case gray(isInverted: Bool)
        case rgb
        case palette
        case cmyk
        /// CIE L*a*b*; in the ICC encoding, a* and b* are unsigned with an offset.
        case lab(isICC: Bool)
        /// Colours that only libtiff converts to RGB.
        case converted
    }

    enum SampleFormat { case unsigned, signed, float }

    let directory: TIFFDirectory
    let size: PixelSize
    let compression: Int
    /// Whether the compression is one of fax, each row of which can be decoded on its own or with a
    /// damaged one before.
    let isFax: Bool
    let photometric: Int
    /// The number of bits of a stored sample.
    let bitsPerSample: Int
    private(set) var model = Model.gray(isInverted: false)
    /// The number of bits of a sample that libtiff returns.
    private(set) var bits: Int
    private(set) var sampleFormat = SampleFormat.unsigned
    private(set) var sampleCount: Int
    let isPlanar: Bool
    let isTiled: Bool
    /// The size of a tile or strip in pixels.
    let blockSize: PixelSize
    /// The number of the alpha sample, and whether colours are premultiplied by it.
    private(set) var alpha: (index: Int, isPremultiplied: Bool)?
    /// All red values, then all green, then all blue, 2ⁿ each.
    private(set) var colorMap: [UInt16] = []

    init(_ directory: TIFFDirectory, _ bytes: Span<UInt8>) throws(CodecError) {
        self.directory = directory
        let place = directory.offset
        func integer(_ tag: TIFFTag) -> Int? { directory.unsigned(tag, bytes) }
        size = try Self.size(directory, bytes)
        // The values on which decoding depends and that may lie outside their entries.
        for tag in [
            TIFFTag.bitsPerSample, .stripOffsets, .stripByteCounts, .colorMap, .tileOffsets,
            .tileByteCounts, .extraSamples, .sampleFormat,
        ]
        where directory.entry(tag).map({ $0.count > 0 }) == true {
            if directory.range(tag) == nil { throw .truncated(byteCount: bytes.count) }
        }
        compression = integer(.compression) ?? 1
        try unsafe requireLibrary(calotype_tiff_missing())
        guard let number = UInt16(exactly: compression), calotype_tiff_has_compression(number)
        else { throw .unsupported(feature: "TIFF compression \(compression)") }
        let count = integer(.samplesPerPixel) ?? 1
        guard (1...64).contains(count) else {
            throw .unsupported(feature: "TIFF with \(count) samples per pixel")
        }
        sampleCount = count
        let depths = directory.unsigned(.bitsPerSample, bytes, limit: count)
        bitsPerSample = depths.first ?? 1
        bits = bitsPerSample
        guard depths.allSatisfy({ $0 == depths[0] }), (1...64).contains(bits) else {
            throw .unsupported(feature: "TIFF with samples of \(depths) bits")
        }
        isPlanar = count > 1 && integer(.planarConfiguration) == 2
        isFax = [2, 3, 4, 32771].contains(compression)
        photometric = integer(.photometricInterpretation) ?? (isFax ? 0 : count >= 3 ? 2 : 1)
        isTiled = directory.entry(.tileWidth) != nil || directory.entry(.tileOffsets) != nil
        let rows = integer(.rowsPerStrip) ?? size.height
        let block =
            isTiled
            ? PixelSize(width: integer(.tileWidth) ?? 0, height: integer(.tileLength) ?? 0)
            : PixelSize(width: size.width, height: min(rows, size.height))
        guard block.width > 0, block.height > 0, block.width <= 1 << 24,
            block.height <= UInt32.max
        else {
            throw .malformed(
                reason: "invalid strip or tile size: \(block.width) × \(block.height)",
                offset: place)
        }
        blockSize = block
        try setModel(bytes)
        try setSampleFormat(bytes)
        setAlpha(bytes)
        try checkBlocks(bytes)
    }

    private static func size(
        _ directory: TIFFDirectory, _ bytes: Span<UInt8>
    ) throws(CodecError) -> PixelSize {
        let width = directory.unsigned(.imageWidth, bytes) ?? 0
        let height = directory.unsigned(.imageLength, bytes) ?? 0
        let sides = 1...Int(UInt32.max)
        guard sides.contains(width), sides.contains(height) else {
            throw .malformed(
                reason: "invalid ImageWidth × ImageLength: \(width) × \(height)",
                offset: directory.offset)
        }
        return PixelSize(width: width, height: height)
    }

    private mutating func setModel(_ bytes: Span<UInt8>) throws(CodecError) {
        if (compression == 34676 || compression == 34677), photometric >= 32844 {
            // libtiff converts LogL and LogLuv to 8 bits.
            bits = 8
            sampleCount = photometric == 32844 ? 1 : 3
            model = photometric == 32844 ? .gray(isInverted: false) : .rgb
            return
        }
        switch photometric {
        case _ where compression == 6: model = .converted
        case 0: model = .gray(isInverted: true)
        case 1, 4: model = .gray(isInverted: false)
        case 2 where sampleCount >= 3: model = .rgb
        case 3 where bits <= 8:
            model = .palette
            colorMap = directory.unsigned(.colorMap, bytes, limit: 3 << bits).map {
                UInt16(truncatingIfNeeded: $0)
            }
            guard colorMap.count == 3 << bits else {
                throw .malformed(
                    reason: "ColorMap has \(colorMap.count) of \(3 << bits) values",
                    offset: directory.offset)
            }
        case 5 where sampleCount >= 4 && (directory.unsigned(.inkSet, bytes) ?? 1) == 1:
            model = .cmyk
        case 6 where compression == 7 && sampleCount == 3 && bits == 8 && !isPlanar:
            model = .rgb
        case 6 where sampleCount == 3 && bits == 8: model = .converted
        case 8 where sampleCount == 3 && (bits == 8 || bits == 16): model = .lab(isICC: false)
        case 9 where sampleCount == 3 && (bits == 8 || bits == 16): model = .lab(isICC: true)
        default:
            throw .unsupported(
                feature:
                    "TIFF with PhotometricInterpretation \(photometric) and "
                    + "\(sampleCount) samples of \(bits) bits"
            )
        }
    }

    private mutating func setSampleFormat(_ bytes: Span<UInt8>) throws(CodecError) {
        guard bits == bitsPerSample || bits != 8 else { return }
        switch directory.unsigned(.sampleFormat, bytes) ?? 1 {
        case 2:
            if case .lab = model { break }
            sampleFormat = .signed
        case 3: sampleFormat = .float
        case 5, 6: throw .unsupported(feature: "TIFF with complex samples")
        default: break
        }
        if sampleFormat == .float, ![16, 24, 32, 64].contains(bits) {
            throw .unsupported(feature: "TIFF with floating-point samples of \(bits) bits")
        }
        if sampleFormat == .signed, ![8, 16, 24, 32, 64].contains(bits) {
            throw .unsupported(feature: "TIFF with signed samples of \(bits) bits")
        }
        if directory.unsigned(.predictor, bytes) == 2, ![8, 16, 32, 64].contains(bits),
            [5, 8, 32946, 34925, 50000].contains(compression)
        {
            throw .unsupported(
                feature: "TIFF with horizontal differencing of samples of \(bits) bits")
        }
    }

    private mutating func setAlpha(_ bytes: Span<UInt8>) {
        let colorCount: Int
        switch model {
        case .gray, .palette: colorCount = 1
        case .rgb: colorCount = 3
        default: return
        }
        guard sampleCount > colorCount else { return }
        let extra = directory.unsigned(.extraSamples, bytes, limit: sampleCount)
        if directory.entry(.extraSamples) == nil {
            // Without ExtraSamples, the fourth sample is alpha.
            if model == .rgb, sampleCount == 4 { alpha = (3, false) }
            return
        }
        guard let index = extra.firstIndex(where: { $0 == 1 || $0 == 2 }) else { return }
        let place = sampleCount - extra.count + index
        if place >= colorCount, place < sampleCount { alpha = (place, extra[index] == 1) }
    }

    private func checkBlocks(_ bytes: Span<UInt8>) throws(CodecError) {
        // Old-style JPEG may store the pixels in other places.
        if compression == 6 { return }
        let counts = blockCounts
        let (perPlane, overflow) = counts.x.multipliedReportingOverflow(by: counts.y)
        let needed = overflow ? .max : perPlane
        let known = max(directory.entry(offsetsTag)?.count ?? 0, 0)
        guard needed <= known / (isPlanar ? sampleCount : 1) else {
            throw .malformed(
                reason: "\(known) strips or tiles instead of \(needed) per plane",
                offset: directory.offset)
        }
    }

    /// The planes that decoding reads; others may be empty.
    var neededPlanes: [Int] {
        let colorCount: Int
        switch model {
        case .gray, .palette: colorCount = 1
        case .cmyk: colorCount = 4
        default: colorCount = min(3, sampleCount)
        }
        return Array(0..<colorCount) + (alpha.map { [$0.index] } ?? [])
    }

    /// Whether libtiff decodes a whole strip with libdeflate, much faster than row by row.
    var isDeflated: Bool { compression == 8 || compression == 32946 }

    private var offsetsTag: TIFFTag {
        directory.entry(.tileOffsets) != nil ? .tileOffsets : .stripOffsets
    }

    /// The number of tiles or strips across and down; strips are as wide as the image.
    var blockCounts: (x: Int, y: Int) {
        (
            isTiled ? (size.width - 1) / blockSize.width + 1 : 1,
            (size.height - 1) / blockSize.height + 1
        )
    }

    /// Checks that a strip or tile lies within the file, unless it is old-style JPEG.
    ///
    /// - Returns: the bytes of the strip or tile.
    /// - Throws: ``CodecError/truncated(byteCount:)`` if the file ends before.
    @discardableResult
    func checkBlock(_ index: Int, _ bytes: Span<UInt8>) throws(CodecError) -> Range<Int> {
        if compression == 6 { return 0..<0 }
        let countsTag: TIFFTag =
            directory.entry(.tileByteCounts) != nil ? .tileByteCounts : .stripByteCounts
        guard let offset = directory.unsigned(offsetsTag, bytes, at: index) else {
            throw .truncated(byteCount: bytes.count)
        }
        var count = directory.unsigned(countsTag, bytes, at: index) ?? 0
        if compression == 1 {
            // Some programs state more bytes than the rows need and than the file has.
            let rowByteCount =
                (blockSize.width * bits * (isPlanar ? 1 : sampleCount) + 7) / 8
            let line = isTiled ? 0 : index % blockCounts.y * blockSize.height
            let lines = min(blockSize.height, isTiled ? blockSize.height : size.height - line)
            count = min(count, rowByteCount.saturatingProduct(lines))
        }
        let (end, overflow) = offset.addingReportingOverflow(count)
        if overflow || end > bytes.count { throw .truncated(byteCount: bytes.count) }
        return offset..<end
    }

    /// Whether the file ends before the first, the middle or the last strip or tile does.
    func isCutShort(_ bytes: Span<UInt8>) -> Bool {
        if compression == 6 { return false }
        let counts = blockCounts
        let last = counts.x * counts.y * (isPlanar ? sampleCount : 1) - 1
        return [0, last / 2, last].contains { index in
            do throws(CodecError) {
                try checkBlock(index, bytes)
                return false
            } catch { return true }
        }
    }

    /// Whether it is a reduced version of another image, by size and kind of pixels.
    func isReducedVersion(of other: TIFFImage) -> Bool {
        guard size.width < other.size.width, size.height < other.size.height else {
            return false
        }
        let difference = abs(
            Double(size.width) * Double(other.size.height)
                - Double(size.height) * Double(other.size.width))
        return difference <= Double(max(other.size.width, other.size.height))
            && (alpha == nil) == (other.alpha == nil) && isGray == other.isGray
            && (model == .cmyk) == (other.model == .cmyk)
    }

    private var isGray: Bool {
        if case .gray = model { true } else { false }
    }

    /// The pixel format of the decoded rows.
    var format: PixelFormat {
        let isWide = bits > 8
        switch model {
        case .gray where alpha == nil: return isWide ? .gray16 : .gray8
        case .palette: return alpha == nil ? .rgb8 : .rgba8
        case .cmyk, .converted: return .rgb8
        default:
            if alpha != nil { return isWide ? .rgba16 : .rgba8 }
            return isWide ? .rgb16 : .rgb8
        }
    }
}
#endif
