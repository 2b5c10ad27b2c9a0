// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// What this build writes for each kind of thing that goes over the wire.
///
/// A host and a worker that were not built together may agree on how a message begins and still take
/// one field for another; so each computes a number from the layout, and they compare.
enum WireLayout {
    /// The same in every build that writes the same fields in the same order.
    static let fingerprint: Int = {
        var writer = WireWriter()
        for kind in Message.Kind.allCases { writer.write("\(kind) \(kind.rawValue)") }
        describe(Orientation.self, &writer)
        describe(ResizeMode.self, &writer)
        describe(ResamplingKernel.self, &writer)
        describe(Dithering.self, &writer)
        describe(PixelFormat.self, &writer)
        describe(ImageHeader.ColorModel.self, &writer)
        describe(DecodeLimits.Name.self, &writer)
        describe(DecodeOptions.EmbeddedThumbnail.self, &writer)
        describe(DecodeOptions.Quality.self, &writer)
        describe(StoredFrame.Disposal.self, &writer)
        describe(StoredFrame.Blending.self, &writer)
        describe(DecodeLimits(), &writer)
        describe(DecodeOptions(), &writer)
        describe(EncodeOptions.ChromaSubsampling.self, &writer)
        describe(EncodeOptions(), &writer)
        describe(
            ImageHeader(
                storedSize: PixelSize(width: 1, height: 1), colorModel: .rgb, bitsPerComponent: 8),
            &writer)
        describe(DecodeReport(decoder: "", shrinkFactors: []), &writer)
        describe(MetadataBlocks(), &writer)
        describe(MetadataFields(), &writer)
        describe(EXIFFields(), &writer)
        describe(XMPFields(), &writer)
        describe(IPTCFields(), &writer)
        describe(EXIFFields.ExposureProgram.self, &writer)
        describe(EXIFFields.MeteringMode.self, &writer)
        describe(EXIFFields.WhiteBalance.self, &writer)
        describe(EXIFFields.ColorSpace.self, &writer)
        describe(MetadataPolicy.copy, &writer)
        describe(PictureChanges(size: PixelSize(width: 1, height: 1)), &writer)
        writer.write(ControlPage.byteCount)
        writer.write(CodecError.fileChanged)
        return hash(writer.bytes)
    }()

    /// Which choices there are, in the order of their numbers on the wire.
    private static func describe<Choice: CaseIterable>(
        _: Choice.Type, _ writer: inout WireWriter
    ) {
        writer.write("\(Choice.self)")
        writer.write(Choice.allCases.map { "\($0)" })
    }

    /// Which fields a thing has, and what is written of one.
    private static func describe(_ value: some WireValue, _ writer: inout WireWriter) {
        writer.write("\(type(of: value))")
        writer.write(Mirror(reflecting: value).children.map { $0.label ?? "" })
        writer.write(value)
    }

    /// FNV-1a: `Hasher` gives another number in each process.
    private static func hash(_ bytes: [UInt8]) -> Int {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return Int(truncatingIfNeeded: hash)
    }
}
