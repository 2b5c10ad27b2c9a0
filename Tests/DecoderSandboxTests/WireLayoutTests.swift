// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Pixels
import Testing

@testable import DecoderSandbox

@Suite struct WireLayoutTests {
    @Test func `the fingerprint changes with the fields of any value`() {
        let computed = Self.fingerprint()
        #expect(
            WireLayout.fingerprint == computed,
            "the layout has changed: set WireLayout.fingerprint to \(computed)")
    }

    /// Returns a hash of the fields of all values, in their order.
    private static func fingerprint() -> Int {
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
        describe(
            StoredTile(
                PixelRect(x: 1, y: 2, width: 3, height: 4),
                ofLevel: PixelSize(width: 5, height: 6)), &writer)
        describe(DecodeReport(decoder: "", shrinkFactors: []), &writer)
        describe(MetadataBlocks(), &writer)
        describe(MetadataFields(), &writer)
        describe(EXIFFields(), &writer)
        describe(XMPFields(), &writer)
        describe(ImageRegion.Kind.self, &writer)
        describe(
            ImageRegion(.face, SampleRegion(x: 0, y: 0, width: 1, height: 1)), &writer)
        describe(IPTCFields(), &writer)
        describe(EXIFFields.ExposureProgram.self, &writer)
        describe(EXIFFields.MeteringMode.self, &writer)
        describe(EXIFFields.WhiteBalance.self, &writer)
        describe(EXIFFields.ColorSpace.self, &writer)
        describe(GainMapMetadata(), &writer)
        describe(GainMapMetadata.Channel(), &writer)
        describe(MetadataPolicy.copy, &writer)
        describe(ImageChanges(size: PixelSize(width: 1, height: 1)), &writer)
        writer.write(ControlPage.byteCount)
        writer.write(CodecError.fileChanged)
        return hash(writer.bytes)
    }

    /// Writes the cases of an enumeration in the order of their encoding.
    private static func describe<Choice: CaseIterable>(
        _: Choice.Type, _ writer: inout WireWriter
    ) {
        writer.write("\(Choice.self)")
        writer.write(Choice.allCases.map { "\($0)" })
    }

    /// Writes the names of the fields of a value, and its encoding.
    private static func describe(_ value: some WireValue, _ writer: inout WireWriter) {
        writer.write("\(type(of: value))")
        writer.write(Mirror(reflecting: value).children.map { $0.label ?? "" })
        writer.write(value)
    }

    /// Returns the FNV-1a hash; `Hasher` has a different seed in each process.
    private static func hash(_ bytes: [UInt8]) -> Int {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return Int(truncatingIfNeeded: hash)
    }
}
