// SPDX-License-Identifier: Apache-2.0

#if AVIF
internal import CAVIF
internal import EncodedImages
internal import Pixels

/// Encodes AVIF with libavif and libaom: 8 bits, or 12 from 16-bit images.
///
/// Lossless images are stored as GBR; others with BT.601 matrix coefficients in full range.
/// This version of libavif cannot write the loop count of a sequence.
struct AVIFEncoder: AnimationEncoder {
    func isSlow(_ size: PixelSize, _ options: EncodeOptions) -> Bool {
        size.area > 1 << 16
    }

    func dependsOnQuality(_ options: EncodeOptions) -> Bool { !options.isLossless }

    var writesColorProfiles: Bool { true }

    var writesHDR: Bool { true }

    var writesGainMaps: Bool { true }

    func adding(_ map: GainMap, to file: [UInt8]) throws(CodecError) -> [UInt8] {
        ItemGainMap.joined(file, map) ?? file
    }

    func prefersYCbCr(_ options: EncodeOptions) -> Bool {
        options.chromaSubsampling == .half && !options.isLossless
    }

    func encode(
        _ image: PixelBuffer, _ options: EncodeOptions
    ) throws(CodecError) -> [UInt8] {
        let image = prepared(image, options)
        let writer = try AVIFWriter(image.size, image.format, image.colorProfile, options)
        try writer.add(image, milliseconds: 0)
        return try writer.finish()
    }

    func animationWriter(
        _ size: PixelSize, loopCount: Int, _ options: EncodeOptions
    ) throws(CodecError) -> any AnimationWriter {
        AVIFAnimationWriter(size, options)
    }

    private func prepared(_ image: PixelBuffer, _ options: EncodeOptions) -> PixelBuffer {
        switch image.format {
        case .yCbCr420: prefersYCbCr(options) ? image : image.convertedFromYCbCr()
        case .alpha8, .bgra8: image.converted(to: .rgba8)
        // libavif converts grey of more than 8 bits to planes only through RGB.
        case .gray16: image.converted(to: .gray8)
        case .rgbaHalf: image.converted(to: .rgba16)
        case .rgb565, .rgb555: image.converted(to: .rgb8)
        case .gray8, .rgb8, .rgba8, .rgb16, .rgba16: image
        }
    }
}

/// Encodes the frames of a sequence; all have alpha, because later frames may need it.
private struct AVIFAnimationWriter: AnimationWriter {
    private let size: PixelSize
    private let options: EncodeOptions
    private var writer: AVIFWriter?

    init(_ size: PixelSize, _ options: EncodeOptions) {
        self.size = size
        self.options = options
    }

    mutating func append(_ image: PixelBuffer, duration: Duration) throws(CodecError) {
        guard image.size == size else {
            throw .unsupported(feature: "AVIF sequence with frames of different sizes")
        }
        if writer == nil {
            writer = try AVIFWriter(size, .rgba8, image.colorProfile, options)
        }
        let milliseconds = duration / .milliseconds(1)
        try writer?.add(
            image.convertedFromYCbCr().converted(to: .rgba8),
            milliseconds: UInt64(min(max(milliseconds.rounded(), 1), 1e9)))
    }

    mutating func finish() throws(CodecError) -> [UInt8] {
        guard let writer else { throw .unsupported(feature: "AVIF sequence without frames") }
        return try writer.finish()
    }
}

/// The sole owner of a libavif encoder.
@safe private final class AVIFWriter {
    private let raw: OpaquePointer

    init(
        _ size: PixelSize, _ format: PixelFormat, _ profile: ColorProfile,
        _ options: EncodeOptions
    ) throws(CodecError) {
        guard size.largestSide <= 65_535 else {
            throw .unsupported(feature: "AVIF of \(size) pixels; the largest side is 65535")
        }
        try unsafe requireLibrary(calotype_avif_missing())
        var settings = unsafe calotype_avif_settings()
        unsafe settings.width = UInt32(size.width)
        unsafe settings.height = UInt32(size.height)
        unsafe settings.channels =
            format == .yCbCr420 ? 0 : Int32(format.channelCount)
        unsafe settings.depth = format.with8BitChannels == format ? 8 : 12
        unsafe settings.is_lossless = options.isLossless
        unsafe settings.quantizer = Self.quantizer(options)
        unsafe settings.speed = Self.speed(options.compressionLevel, size)
        switch options.chromaSubsampling {
        case .full: unsafe settings.subsampling = 444
        case .halfWidth: unsafe settings.subsampling = 422
        case .half: unsafe settings.subsampling = 420
        }
        if options.isLossless { unsafe settings.subsampling = 444 }
        if format == .yCbCr420 { unsafe settings.subsampling = 420 }
        let blocks = EmbeddedBlocks(profile, format, options.metadata)
        unsafe settings.primaries = blocks.primaries
        unsafe settings.transfer = blocks.transfer
        unsafe settings.icc_count = blocks.icc.count
        unsafe settings.exif_count = blocks.exif.count
        unsafe settings.xmp_count = blocks.xmp.count
        let raw = unsafe blocks.bytes.withUnsafeBufferPointer {
            unsafe settings.blocks = $0.baseAddress
            return unsafe calotype_avif_writer_create(&settings)
        }
        guard let raw = unsafe raw else {
            throw .library(message: "out of memory: cannot create an AVIF encoder")
        }
        unsafe self.raw = raw
    }

    deinit { unsafe calotype_avif_writer_destroy(raw) }

    func add(_ image: PixelBuffer, milliseconds: UInt64) throws(CodecError) {
        for plane in 0..<image.format.planeCount {
            let layout = image.layout(ofPlane: plane)
            for y in 0..<layout.size.height {
                let row = PremultipliedAlpha.straight(image.row(y, plane: plane), image.format)
                unsafe calotype_avif_writer_set_row(
                    raw, Int32(plane), UInt32(y), row, row.count)
            }
        }
        try check(unsafe calotype_avif_writer_add(raw, milliseconds))
    }

    func finish() throws(CodecError) -> [UInt8] {
        var bytes: UnsafePointer<UInt8>?
        var count = 0
        try check(unsafe calotype_avif_writer_finish(raw, &bytes, &count))
        return unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    /// Returns AV1's quantizer from 0 to 63 for a quality from 1 to 100.
    private static func quantizer(_ options: EncodeOptions) -> Int32 {
        options.isLossless
            ? 0 : Int32((100 - min(max(options.quality, 1), 100)) * 63 + 50) / 100
    }

    /// Returns libaom's speed for an effort from 0 to 9.
    ///
    /// The default effort, 6, maps to speed 9: slower speeds down to 7 take up to four times as
    /// long and save no bytes.
    ///
    /// Images of more than 4 megapixels use the highest speed up to the default effort, because
    /// libaom cannot be interrupted.
    private static func speed(_ level: Int, _ size: PixelSize) -> Int32 {
        if level <= 6, size.area > 4_000_000 { return 10 }
        return [10, 10, 10, 9, 9, 9, 9, 6, 4, 2][min(max(level, 0), 9)]
    }

    private func check(_ status: calotype_avif_status) throws(CodecError) {
        guard status != calotype_avif_ok else { return }
        throw .library(message: unsafe String(cString: calotype_avif_writer_message(raw)))
    }
}
#endif
