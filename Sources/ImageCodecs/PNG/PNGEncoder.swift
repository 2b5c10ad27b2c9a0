// SPDX-License-Identifier: Apache-2.0

#if PNG
internal import CPNG
internal import EncodedImages
internal import Pixels

/// Encodes PNG with libpng, 8 or 16 bits per sample, not interlaced.
struct PNGEncoder: ImageEncoder {
    func isSlow(_ size: PixelSize, _ options: EncodeOptions) -> Bool {
        size.area > 1 << 22
    }

    var writesColorProfiles: Bool { true }

    var writesHDR: Bool { true }

    func encode(
        _ image: PixelBuffer, _ options: EncodeOptions
    ) throws(CodecError) -> [UInt8] {
        let image = image.converted(to: image.format.withIntegerSamples)
        let writer = try PNGWriter()
        try writer.start(image, options)
        if image.format.isDeep {
            for y in 0..<image.size.height {
                try writer.writeRow(Self.bigEndian(image.row(y), image.format).span)
            }
        } else {
            for y in 0..<image.size.height {
                try writer.writeRow(PremultipliedAlpha.straight(image.row(y), image.format).span)
            }
        }
        return try writer.finish()
    }

    /// Returns a row of 16-bit samples in big-endian order with straight alpha.
    private static func bigEndian(_ row: Span<UInt8>, _ format: PixelFormat) -> [UInt8] {
        var bytes = PremultipliedAlpha.straight(row, format)
        let samples = bytes.span.withSamples16 { samples in
            samples.indices.map { samples[$0] }
        }
        for (index, sample) in samples.enumerated() {
            bytes[index * 2] = UInt8(sample >> 8)
            bytes[index * 2 + 1] = UInt8(sample & 255)
        }
        return bytes
    }
}

/// The only owner of a libpng write structure.
@safe private struct PNGWriter: ~Copyable {
    private let raw: OpaquePointer

    init() throws(CodecError) {
        try unsafe requireLibrary(calotype_png_writer_missing())
        guard let raw = unsafe calotype_png_writer_create() else {
            throw .library(message: "out of memory: cannot create a PNG encoder")
        }
        unsafe self.raw = raw
    }

    deinit { unsafe calotype_png_writer_destroy(raw) }

    func start(_ image: PixelBuffer, _ options: EncodeOptions) throws(CodecError) {
        var settings = calotype_png_settings()
        settings.width = UInt32(image.size.width)
        settings.height = UInt32(image.size.height)
        settings.channels = Int32(image.format.channelCount)
        settings.bit_depth = image.format.isDeep ? 16 : 8
        settings.compression_level = Int32(min(max(options.compressionLevel, 0), 9))
        try check(unsafe calotype_png_writer_start(raw, &settings))
        if let block = options.metadata.exif, !block.isEmpty {
            try unsafe setBlock(block) { unsafe calotype_png_writer_set_exif($0, $1, $2) }
        }
        for text in PNGTexts.texts(of: options.metadata) {
            try setText(text)
        }
        // Set last, because from then on libpng drops invalid chunks instead of failing.
        let chunks = PNGColorChunks(image.colorProfile, isGray: image.format.channelCount == 1)
        if !chunks.profile.isEmpty {
            try unsafe setBlock(chunks.profile) {
                unsafe calotype_png_writer_set_profile($0, $1, $2)
            }
        }
        for (type, body) in chunks.others {
            try unsafe setBlock(body) {
                unsafe calotype_png_writer_write_chunk($0, type, $1, $2)
            }
        }
        try check(unsafe calotype_png_writer_write_header(raw))
    }

    private func setBlock(
        _ block: [UInt8],
        _ call: (OpaquePointer, UnsafePointer<UInt8>?, Int) -> calotype_png_status
    ) throws(CodecError) {
        let status = unsafe block.withUnsafeBufferPointer {
            unsafe call(raw, $0.baseAddress, $0.count)
        }
        try check(status)
    }

    private func setText(_ text: PNGTexts.Text) throws(CodecError) {
        // libpng requires a terminating zero, whatever the length.
        let status = unsafe calotype_png_writer_set_text(
            raw, text.keyword, text.bytes + [0], text.isCompressed)
        try check(status)
    }

    func writeRow(_ row: Span<UInt8>) throws(CodecError) {
        try check(
            unsafe row.withUnsafeBufferPointer {
                unsafe calotype_png_writer_write_row(raw, $0.baseAddress)
            })
    }

    func finish() throws(CodecError) -> [UInt8] {
        var bytes: UnsafePointer<UInt8>?
        var count = 0
        try check(unsafe calotype_png_writer_finish(raw, &bytes, &count))
        return unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    private func check(_ status: calotype_png_status) throws(CodecError) {
        guard status != calotype_png_ok else { return }
        throw .library(message: unsafe String(cString: calotype_png_writer_message(raw)))
    }
}
#endif
