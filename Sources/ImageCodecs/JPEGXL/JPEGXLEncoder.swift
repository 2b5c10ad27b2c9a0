// SPDX-License-Identifier: Apache-2.0

#if JPEGXL
#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif
internal import CJPEGXL
internal import EncodedImages
internal import Pixels

/// Encodes JPEG XL with libjxl, at the image's depth of 8 or 16 bits.
struct JPEGXLEncoder: AnimationEncoder {
    func isSlow(_ size: PixelSize, _ options: EncodeOptions) -> Bool {
        size.area > 1 << 16
    }

    func dependsOnQuality(_ options: EncodeOptions) -> Bool { !options.isLossless }

    var writesColorProfiles: Bool { true }

    var writesHDR: Bool { true }

    var writesGainMaps: Bool { true }

    func adding(_ map: GainMap, to file: [UInt8]) throws(CodecError) -> [UInt8] {
        JPEGXLGainMap.joined(file, map) ?? file
    }

    func encode(
        _ image: PixelBuffer, _ options: EncodeOptions
    ) throws(CodecError) -> [UInt8] {
        let image = Self.prepared(image)
        let writer = try JPEGXLWriter(image, options, loopCount: nil)
        try writer.add(image, milliseconds: 0)
        return try writer.finish()
    }

    func animationWriter(
        _ size: PixelSize, loopCount: Int, _ options: EncodeOptions
    ) throws(CodecError) -> any AnimationWriter {
        JPEGXLAnimationWriter(size: size, loopCount: loopCount, options: options)
    }

    fileprivate static func prepared(_ image: PixelBuffer) -> PixelBuffer {
        let image = image.converted(to: image.format.withIntegerSamples)
        return image.format == .alpha8 ? image.converted(to: .rgba8) : image
    }
}

/// Encodes the frames of an animation; all have alpha, because later frames may need it.
private struct JPEGXLAnimationWriter: AnimationWriter {
    let size: PixelSize
    let loopCount: Int
    let options: EncodeOptions
    private var writer: JPEGXLWriter?

    init(size: PixelSize, loopCount: Int, options: EncodeOptions) {
        self.size = size
        self.loopCount = loopCount
        self.options = options
    }

    mutating func append(_ image: PixelBuffer, duration: Duration) throws(CodecError) {
        guard image.size == size else {
            throw .unsupported(feature: "JPEG XL animation with frames of different sizes")
        }
        let image = image.convertedFromYCbCr().converted(to: .rgba8)
        if writer == nil {
            writer = try JPEGXLWriter(image, options, loopCount: loopCount)
        }
        let milliseconds = duration / .milliseconds(1)
        try writer?.add(image, milliseconds: UInt32(min(max(milliseconds.rounded(), 0), 1e9)))
    }

    mutating func finish() throws(CodecError) -> [UInt8] {
        guard let writer else {
            throw .unsupported(feature: "JPEG XL animation without frames")
        }
        return try writer.finish()
    }
}

/// The sole owner of a libjxl encoder.
@safe final class JPEGXLWriter {
    private let raw: OpaquePointer

    init(_ image: PixelBuffer, _ options: EncodeOptions, loopCount: Int?) throws(CodecError) {
        try unsafe requireLibrary(calotype_jxl_writer_missing())
        var settings = unsafe calotype_jxl_settings()
        unsafe settings.width = UInt32(clamping: image.size.width)
        unsafe settings.height = UInt32(clamping: image.size.height)
        unsafe settings.channels = Int32(image.format.channelCount)
        unsafe settings.is_wide = image.format.with8BitChannels != image.format
        unsafe settings.is_lossless = options.isLossless
        unsafe settings.is_animated = loopCount != nil
        unsafe settings.loop_count = UInt32(clamping: loopCount ?? 0)
        unsafe settings.distance = Self.distance(options.quality)
        unsafe settings.effort = Self.effort(options.compressionLevel)
        let blocks = EmbeddedBlocks(
            image.colorProfile, image.format, options.metadata, enumerates: Self.enumerates)
        unsafe settings.primaries = blocks.primaries
        unsafe settings.transfer = blocks.transfer
        unsafe settings.icc_count = blocks.icc.count
        unsafe settings.exif_count = blocks.exif.count
        unsafe settings.xmp_count = blocks.xmp.count
        let raw = unsafe blocks.bytes.withUnsafeBufferPointer {
            unsafe settings.blocks = $0.baseAddress
            return unsafe calotype_jxl_writer_create(&settings)
        }
        guard let raw = unsafe raw else {
            throw .library(message: "libjxl rejected the image or its settings")
        }
        unsafe self.raw = raw
    }

    /// Creates an encoder that transcodes a JPEG file.
    init(jpeg: Span<UInt8>, _ options: EncodeOptions) throws(CodecError) {
        try unsafe requireLibrary(calotype_jxl_writer_missing())
        let effort = Self.effort(options.compressionLevel)
        let raw = unsafe jpeg.withUnsafeBufferPointer {
            unsafe calotype_jxl_writer_create_from_jpeg($0.baseAddress, $0.count, effort)
        }
        guard let raw = unsafe raw else {
            throw .unsupported(feature: "JPEG file that libjxl cannot transcode")
        }
        unsafe self.raw = raw
    }

    deinit { unsafe calotype_jxl_writer_destroy(raw) }

    func add(_ image: PixelBuffer, milliseconds: UInt32) throws(CodecError) {
        var pixels: [UInt8] = []
        pixels.reserveCapacity(image.size.area * image.format.bytesPerPixel)
        for y in 0..<image.size.height {
            pixels += PremultipliedAlpha.straight(image.row(y), image.format)
        }
        let status = unsafe pixels.withUnsafeBufferPointer {
            unsafe calotype_jxl_writer_add(raw, $0.baseAddress, $0.count, milliseconds, false)
        }
        try JPEGXLReader.check(status, 0)
    }

    func finish() throws(CodecError) -> [UInt8] {
        var bytes: UnsafePointer<UInt8>?
        var count = 0
        try JPEGXLReader.check(unsafe calotype_jxl_writer_finish(raw, &bytes, &count), 0)
        return unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    /// Whether the colour space has a short form in the file; others need an ICC profile.
    private static func enumerates(_ points: CICP) -> Bool {
        let isPower = if case .power = points.curve { points.transfer != 17 } else { false }
        return !isPower
            && ([9, 11, 12].contains(points.primaries) || points.chromaticities == .sRGB)
    }

    /// Returns the distance by libjxl's rule for qualities on libjpeg's scale.
    private static func distance(_ quality: Int) -> Float {
        let quality = Float(min(max(quality, 1), 100))
        if quality >= 30 { return 0.1 + (100 - quality) * 0.09 }
        return min(6.4 + powf(2.5, (30 - quality) / 5) / 6.25, 15)
    }

    /// Returns libjxl's effort from 1 to 9 for a level from 0 to 9.
    ///
    /// The default level, 6, maps to effort 4: effort 7 takes several times as long and saves a
    /// few hundredths of the size.
    private static func effort(_ level: Int) -> Int32 {
        [1, 1, 2, 3, 3, 3, 4, 7, 8, 9][min(max(level, 0), 9)]
    }
}
#endif
