// SPDX-License-Identifier: Apache-2.0

#if JPEG2000
internal import CJPEG2000
internal import EncodedImages
internal import Pixels

/// Encodes JP2 with OpenJPEG: one tile, at the image's depth of 8 or 16 bits.
///
/// Lossless images use the 5/3 wavelet. Others use the 9/7 wavelet and are truncated to the
/// peak signal-to-noise ratio that a JPEG of equal quality has for a photograph: 28 dB at 10,
/// 35 dB at 50, 40 dB at 80, 47 dB at 95. At 100 nothing is truncated.
struct JPEG2000Encoder: ImageEncoder {
    func isSlow(_ size: PixelSize, _ options: EncodeOptions) -> Bool {
        size.area > 1 << 18
    }

    func dependsOnQuality(_ options: EncodeOptions) -> Bool { !options.isLossless }

    var writesColorProfiles: Bool { true }

    func encode(
        _ image: PixelBuffer, _ options: EncodeOptions
    ) throws(CodecError) -> [UInt8] {
        var image = image.converted(to: image.format.withIntegerSamples)
        if image.format == .alpha8 { image = image.converted(to: .rgba8) }
        let writer = try JPEG2000Writer(image, options)
        for y in 0..<image.size.height { writer.put(image.row(y), y) }
        let codestream = try writer.finish()
        return file(image, options.metadata, codestream)
    }

    private func file(
        _ image: PixelBuffer, _ metadata: MetadataBlocks, _ codestream: [UInt8]
    ) -> [UInt8] {
        let channels = image.format.channelCount
        var header = BoxWriter.box(
            "ihdr",
            number(image.size.height, 4) + number(image.size.width, 4) + number(channels, 2)
                + [UInt8(image.format.bytesPerPixel / channels * 8 - 1), 7, 0, 0])
        if let profile = image.colorProfile.iccBytes(isGray: channels == 1) {
            header += BoxWriter.box("colr", [2, 0, 0] + profile)
        } else {
            header += BoxWriter.box("colr", [1, 0, 0] + number(channels == 1 ? 17 : 16, 4))
        }
        if image.format.hasAlpha {
            // Three colours and, fourth, the opacity of the whole image.
            let roles = [[0, 0, 1], [1, 0, 2], [2, 0, 3], [3, 1, 0]]
            header += BoxWriter.box(
                "cdef", number(roles.count, 2) + roles.joined().flatMap { number($0, 2) })
        }
        var file = JPEG2000Encoder.signature
        file += BoxWriter.box("ftyp", Array("jp2 ".utf8) + number(0, 4) + Array("jp2 ".utf8))
        file += BoxWriter.box("jp2h", header)
        let blocks = [
            (JPEG2000Header.exifIdentifier, metadata.exif),
            (JPEG2000Header.xmpIdentifier, metadata.xmp),
            (JPEG2000Header.iptcIdentifier, metadata.iptc),
        ]
        for case (let identifier, let block?) in blocks {
            file += BoxWriter.box("uuid", identifier + block)
        }
        file += BoxWriter.box("jp2c", codestream)
        return file
    }

    private static let signature: [UInt8] = [
        0, 0, 0, 12, 0x6A, 0x50, 0x20, 0x20, 0x0D, 0x0A, 0x87, 0x0A,
    ]

    private func number(_ value: Int, _ byteCount: Int) -> [UInt8] {
        [UInt8](value, byteCount: byteCount, .bigEndian)
    }
}

/// The sole owner of an OpenJPEG encoder.
@safe private struct JPEG2000Writer: ~Copyable {
    private let raw: OpaquePointer
    private let width: Int
    private let format: PixelFormat

    init(_ image: PixelBuffer, _ options: EncodeOptions) throws(CodecError) {
        format = image.format
        width = image.size.width
        var settings = calotype_j2k_settings()
        settings.width = UInt32(image.size.width)
        settings.height = UInt32(image.size.height)
        settings.channels = UInt32(format.channelCount)
        settings.depth = UInt32(format.plane(0).bytesPerChannel * 8)
        // The lowest resolution level has at least one pixel per side.
        let side = min(image.size.width, image.size.height)
        settings.resolutions = Int32(min(6, Int.bitWidth - side.leadingZeroBitCount))
        settings.is_lossless = options.isLossless
        settings.psnr = options.isLossless ? 0 : Self.signalToNoise(options.quality)
        try unsafe requireLibrary(calotype_j2k_missing())
        guard let raw = unsafe calotype_j2k_writer_create(&settings) else {
            throw .library(message: "out of memory: cannot create a JPEG 2000 encoder")
        }
        unsafe self.raw = raw
    }

    deinit { unsafe calotype_j2k_writer_destroy(raw) }

    /// Returns the target in decibels for a quality on libjpeg's scale; 0 for no truncation.
    private static func signalToNoise(_ quality: Int) -> Float {
        let points: [(quality: Float, decibels: Float)] = [
            (1, 22), (10, 28), (50, 35), (80, 40), (95, 47), (99, 52),
        ]
        let wanted = Float(max(1, quality))
        for (low, high) in zip(points, points.dropFirst()) where wanted <= high.quality {
            let share = (wanted - low.quality) / (high.quality - low.quality)
            return low.decibels + share * (high.decibels - low.decibels)
        }
        return 0
    }

    func put(_ row: Span<UInt8>, _ y: Int) {
        switch format {
        case .gray16, .rgb16, .rgba16:
            PremultipliedAlpha.straight(row, format).span.withSamples16 { putSamples($0, y) }
        default: putSamples(PremultipliedAlpha.straight(row, format).span, y)
        }
    }

    private func putSamples<Sample: FixedWidthInteger>(_ row: Span<Sample>, _ y: Int) {
        let channelCount = format.channelCount
        precondition(
            row.count == width * channelCount, "the row must have the width of the image")
        for channel in 0..<channelCount {
            guard
                let plane = unsafe calotype_j2k_writer_samples(raw, UInt32(channel))
            else { continue }
            let line = unsafe plane + y * width
            var place = channel
            for x in 0..<width {
                unsafe line[x] = Int32(row[place])
                place += channelCount
            }
        }
    }

    func finish() throws(CodecError) -> [UInt8] {
        var bytes: UnsafePointer<UInt8>?
        var count = 0
        guard unsafe calotype_j2k_writer_finish(raw, &bytes, &count) else {
            throw .library(message: unsafe String(cString: calotype_j2k_writer_message(raw)))
        }
        return unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
    }
}
#endif
