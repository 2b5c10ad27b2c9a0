// SPDX-License-Identifier: Apache-2.0

#if WebP
internal import CWebP
internal import EncodedImages
internal import Pixels

/// Encodes WebP with libwebp; the profile and the metadata are added to its output.
struct WebPEncoder: AnimationEncoder {
    func isSlow(_ size: PixelSize, _ options: EncodeOptions) -> Bool {
        size.area > 1 << 18
    }

    func dependsOnQuality(_ options: EncodeOptions) -> Bool { !options.isLossless }

    var writesColorProfiles: Bool { true }

    func encode(
        _ image: PixelBuffer, _ options: EncodeOptions
    ) throws(CodecError) -> [UInt8] {
        try unsafe requireLibrary(calotype_webp_missing())
        let pixels = WebPPixels(image)
        let settings = try WebPSettings(image.size, pixels.channelCount, options)
        let file = try unsafe WebPFile { file in
            unsafe settings.withValue { settings in
                unsafe pixels.withBytes {
                    unsafe calotype_webp_encode(settings, $0, pixels.bytesPerRow, &file)
                }
            }
        }
        return try WebPMuxer(image.colorProfile, options.metadata)
            .completed(file.bytes, hasAlpha: pixels.channelCount == 4)
    }

    func animationWriter(
        _ size: PixelSize, loopCount: Int, _ options: EncodeOptions
    ) throws(CodecError) -> any AnimationWriter {
        try WebPAnimationWriter(size, loopCount: loopCount, options)
    }
}

/// Encodes an animation with libwebp, which finds the changed regions of each frame.
///
/// Equal consecutive frames are merged into one with a longer duration.
struct WebPAnimationWriter: AnimationWriter {
    private let size: PixelSize
    private let options: EncodeOptions
    private let encoder: WebPAnimation
    private var time = Duration.zero
    private var profile = ColorProfile.sRGB
    private var hasFrames = false

    init(_ size: PixelSize, loopCount: Int, _ options: EncodeOptions) throws(CodecError) {
        self.size = size
        self.options = options
        encoder = try WebPAnimation(
            try WebPSettings(size, 4, options), loopCount: loopCount)
    }

    mutating func append(
        _ image: PixelBuffer, duration: Duration
    ) throws(CodecError) {
        precondition(image.size == size, "a frame must have the size of the animation")
        if !hasFrames { profile = image.colorProfile }
        hasFrames = true
        try encoder.add(WebPPixels(image.converted(to: .rgba8)), at: try milliseconds())
        time += max(.zero, duration)
    }

    mutating func finish() throws(CodecError) -> [UInt8] {
        precondition(hasFrames, "an animation needs at least one frame")
        let file = try encoder.finished(at: try milliseconds())
        return try WebPMuxer(profile, options.metadata).completed(file, hasAlpha: true)
    }

    private func milliseconds() throws(CodecError) -> Int32 {
        let (seconds, rest) = time.components
        guard seconds < Int64(Int32.max) / 1_000 else {
            throw .unsupported(feature: "WebP animation of more than 24 days")
        }
        return Int32(seconds * 1_000 + (rest + 500_000_000_000_000) / 1_000_000_000_000_000)
    }
}

/// The sole owner of libwebp's animation encoder.
@safe private final class WebPAnimation {
    private let raw: OpaquePointer

    init(_ settings: WebPSettings, loopCount: Int) throws(CodecError) {
        guard loopCount >= 0 else {
            throw .unsupported(feature: "WebP with the negative loop count \(loopCount)")
        }
        try unsafe requireLibrary(calotype_webp_missing())
        let raw = unsafe settings.withValue {
            unsafe calotype_webp_animation_create($0, Int32(UInt16(clamping: loopCount)))
        }
        guard let raw = unsafe raw else {
            throw .library(message: "out of memory: cannot create a WebP encoder")
        }
        unsafe self.raw = raw
    }

    deinit { unsafe calotype_webp_animation_destroy(raw) }

    func add(_ pixels: WebPPixels, at milliseconds: Int32) throws(CodecError) {
        let problem = unsafe pixels.withBytes {
            unsafe calotype_webp_animation_add(raw, $0, pixels.bytesPerRow, milliseconds)
        }
        if let problem = unsafe problem {
            throw .library(message: unsafe String(cString: problem))
        }
    }

    func finished(at milliseconds: Int32) throws(CodecError) -> [UInt8] {
        try unsafe WebPFile { unsafe calotype_webp_animation_finish(raw, milliseconds, &$0) }
            .bytes
    }
}

/// The encoder settings of an image.
private struct WebPSettings {
    private let value: calotype_webp_settings

    init(
        _ size: PixelSize, _ channelCount: Int, _ options: EncodeOptions
    ) throws(CodecError) {
        guard size.largestSide <= 16_383 else {
            throw .unsupported(feature: "WebP of \(size) pixels; the largest side is 16383")
        }
        value = calotype_webp_settings(
            width: Int32(size.width), height: Int32(size.height),
            channels: Int32(channelCount), is_lossless: options.isLossless,
            quality: Int32(min(max(options.quality, 1), 100)),
            effort: Int32(min(max(options.compressionLevel, 0), 9)),
            is_sharp: options.chromaSubsampling == .full)
    }

    @unsafe func withValue<Result>(
        _ body: (UnsafePointer<calotype_webp_settings>) -> Result
    ) -> Result {
        unsafe withUnsafePointer(to: value) { unsafe body($0) }
    }
}

/// The pixels of an image in libwebp's layout: RGB, or RGBA with straight alpha.
private struct WebPPixels {
    private let image: PixelBuffer

    init(_ image: PixelBuffer) {
        guard image.format.hasAlpha else {
            self.image = image.converted(to: .rgb8)
            return
        }
        var straight = MutablePixelBuffer(image.converted(to: .rgba8))
        for y in 0..<straight.size.height {
            straight.withMutableRow(y) { PremultipliedAlpha.divide(&$0) }
        }
        self.image = straight.finish()
    }

    var channelCount: Int { image.format.channelCount }
    var bytesPerRow: Int { image.bytesPerRow }

    @unsafe func withBytes<Result>(_ body: (UnsafePointer<UInt8>?) -> Result) -> Result {
        unsafe image.bytes.withUnsafeBufferPointer { unsafe body($0.baseAddress) }
    }
}

/// A copy of a file that libwebp wrote.
private struct WebPFile {
    let bytes: [UInt8]

    /// Calls `body` and copies the file that it writes.
    ///
    /// - Parameter body: writes the file, and returns an error message or `nil`.
    /// - Throws: ``CodecError/library(message:)`` with that message.
    @unsafe init(
        _ body: (inout calotype_webp_file) -> UnsafePointer<CChar>?
    ) throws(CodecError) {
        var file = unsafe calotype_webp_file()
        let problem = unsafe body(&file)
        bytes = unsafe Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
        unsafe calotype_webp_file_free(&file)
        if let problem = unsafe problem {
            throw .library(message: unsafe String(cString: problem))
        }
    }
}
#endif
