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
        let (seconds, attoseconds) = duration.components
        let milliseconds = Double(seconds) * 1000 + Double(attoseconds) / 1e15
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
        unsafe settings.primaries = 1
        unsafe settings.transfer = 13
        var icc: [UInt8] = []
        switch image.colorProfile {
        case .coded(let points) where Self.enumerates(points):
            unsafe settings.primaries = Int32(clamping: points.primaries)
            unsafe settings.transfer = Int32(clamping: points.transfer)
        case .sRGB, .icc, .calibrated, .coded:
            let isGray = image.format.channelCount == 1
            icc = image.colorProfile.iccBytes(isGray: isGray) ?? []
        }
        let exif = options.metadata.exif ?? []
        let xmp = options.metadata.xmp ?? []
        unsafe settings.icc_count = icc.count
        unsafe settings.exif_count = exif.count
        unsafe settings.xmp_count = xmp.count
        let raw = unsafe (icc + exif + xmp).withUnsafeBufferPointer {
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
        let rowByteCount = image.size.width * image.format.bytesPerPixel
        var pixels = [UInt8](repeating: 0, count: rowByteCount * image.size.height)
        for y in 0..<image.size.height {
            let row = image.row(y)
            let start = y * rowByteCount
            unsafe row.withUnsafeBytes { row in
                unsafe pixels.withUnsafeMutableBytes {
                    unsafe UnsafeMutableRawBufferPointer(
                        rebasing: $0[start..<start + rowByteCount]
                    ).copyMemory(from: row)
                }
            }
        }
        if image.format == .rgba8 {
            var span = pixels.mutableSpan
            PremultipliedAlpha.divide(&span)
        } else if image.format == .rgba16 {
            Self.divideWide(&pixels)
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

    private static func divideWide(_ row: inout [UInt8]) {
        unsafe row.withUnsafeMutableBytes { bytes in
            let samples = unsafe bytes.assumingMemoryBound(to: UInt16.self)
            for place in stride(from: 0, to: samples.count - 3, by: 4) {
                let alpha = unsafe UInt32(samples[place + 3])
                for index in place..<place + 3 where alpha < 65_535 {
                    let color = unsafe UInt32(samples[index])
                    let straight = alpha == 0 ? 0 : (color * 65_535 + alpha / 2) / alpha
                    unsafe samples[index] = UInt16(min(straight, 65_535))
                }
            }
        }
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
