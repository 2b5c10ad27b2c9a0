// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import ImageTesting
import Pixels
import Testing

@Suite("Limits") struct DecodeLimitsTests {
    /// A decoder with any header and any rows.
    private struct LiarCodec: ImageCodec, ImageDecoder {
        var header = ImageHeader(
            storedSize: PixelSize(width: 4, height: 4), colorModel: .gray, bitsPerComponent: 8)
        var delivered = PixelSize(width: 4, height: 4)
        var blocks = MetadataBlocks()
        var frameCount = 0
        var givesPlanes = false
        let format = ImageFormat(
            name: "liar", extensions: [], mediaType: "image/x-liar",
            signatures: [.init(Array("LIAR".utf8))])
        var decoder: any ImageDecoder { self }
        var encoder: (any ImageEncoder)? { nil }

        func header(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> ImageHeader {
            header
        }

        func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
            if givesPlanes {
                let plane = SourcePlane(size: delivered, horizontalScale: 1, verticalScale: 1)
                try rows.beginYCbCr([plane, plane, plane], .sRGB)
            } else {
                try rows.begin(delivered, .gray8, .sRGB)
                let row = [UInt8](repeating: 7, count: delivered.width)
                for _ in 0..<delivered.height { try rows.append(row.span) }
            }
        }

        func metadata(
            of bytes: Span<UInt8>, limits: DecodeLimits
        ) throws(CodecError) -> MetadataBlocks { blocks }

        func frameReader(
            for bytes: EncodedBytes, limits: DecodeLimits
        ) throws(CodecError) -> (any FrameReader)? { Reader(count: frameCount) }
    }

    private struct Reader: FrameReader {
        var count: Int

        mutating func next() throws(CodecError) -> StoredFrame? {
            guard count > 0 else { return nil }
            count -= 1
            let size = PixelSize(width: 1, height: 1)
            return StoredFrame(
                region: PixelRect(size), duration: .zero,
                image: TestImage.flat(size, .gray8, [0]))
        }
    }

    private func source(
        _ codec: LiarCodec, _ limits: DecodeLimits = DecodeLimits()
    ) throws(CodecError) -> ImageSource {
        try ImageSource(
            EncodedBytes(Array("LIAR".utf8)), codecs: CodecSet([codec]), limits: limits)
    }

    @Test("are read and set by name", arguments: DecodeLimits.Name.allCases)
    func names(name: DecodeLimits.Name) {
        var limits = DecodeLimits()
        #expect(limits[name] > 0)
        limits[name] = 3
        #expect(limits[name] == 3)
        #expect(throws: Never.self) { try limits.check(name, 3) }
        #expect(throws: CodecError.limitExceeded(name, needed: 4, allowed: 3)) {
            try limits.check(name, 4)
        }
        for other in DecodeLimits.Name.allCases where other != name {
            #expect(limits[other] == DecodeLimits()[other])
        }
    }

    @Test("apply to all frames of an animation together, by the header")
    func animation() throws {
        var codec = LiarCodec()
        codec.header.storedSize = PixelSize(width: 8000, height: 8000)
        codec.header.frameCount = 312
        #expect(throws: Never.self) { _ = try source(codec) }
        codec.header.frameCount = 313
        #expect(
            throws: CodecError.limitExceeded(
                .animationPixelCount, needed: 313 * 64_000_000, allowed: 20_000_000_000)
        ) { _ = try source(codec) }
        // A single image is no animation.
        codec.header.frameCount = 1
        var limits = DecodeLimits()
        limits.maximumAnimationPixelCount = 1
        #expect(throws: Never.self) { _ = try source(codec, limits) }
    }

    @Test("apply to frames that the header does not state")
    func moreFrames() throws {
        var codec = LiarCodec()
        codec.header.frameCount = 2
        codec.frameCount = 5
        for (name, allowed, needed) in [
            (DecodeLimits.Name.frameCount, 3, 4), (.animationPixelCount, 48, 64),
        ] {
            var limits = DecodeLimits()
            limits[name] = allowed
            var frames = try source(codec, limits).frames()
            for _ in 0..<3 { #expect(try frames.next() != nil) }
            do throws(CodecError) {
                _ = try frames.next()
                Issue.record("a fourth frame")
            } catch {
                #expect(error == .limitExceeded(name, needed: needed, allowed: allowed))
            }
        }
    }

    @Test("apply to the profile of a header")
    func profile() {
        var codec = LiarCodec()
        codec.header.colorProfile = .icc(Array(repeating: 0, count: 101))
        var limits = DecodeLimits()
        limits.maximumProfileByteCount = 100
        #expect(throws: CodecError.limitExceeded(.profileByteCount, needed: 101, allowed: 100)) {
            _ = try source(codec, limits)
        }
    }

    @Test("apply to the output of a decoder", arguments: [false, true])
    func delivered(givesPlanes: Bool) throws {
        var codec = LiarCodec()
        codec.givesPlanes = givesPlanes
        for size in [
            PixelSize(width: 5, height: 4), PixelSize(width: 4, height: 5),
            PixelSize(width: 0, height: 4),
        ] {
            codec.delivered = size
            #expect(
                throws: CodecError.malformed(
                    reason: "decoded size \(size) does not match the size 4x4 in the header",
                    offset: 0)
            ) { _ = try source(codec).image() }
        }
        codec.delivered = PixelSize(width: 500, height: 4)
        var limits = DecodeLimits()
        limits.maximumSide = 400
        #expect(throws: CodecError.limitExceeded(.side, needed: 500, allowed: 400)) {
            _ = try source(codec, limits).image()
        }
    }

    @Test("do not apply the size of a scalable image to its result")
    func scalable() throws {
        var codec = LiarCodec()
        codec.header.isScalable = true
        codec.delivered = PixelSize(width: 8, height: 8)
        let image = try source(codec).image(DecodeOptions(maximumSide: 8))
        #expect(image.size == codec.delivered)
    }

    @Test("apply to blocks of metadata and to the nesting of XMP")
    func metadata() throws {
        var codec = LiarCodec()
        codec.blocks.iptc = Array(repeating: 0, count: 11)
        var limits = DecodeLimits()
        limits.maximumMetadataByteCount = 10
        #expect(throws: CodecError.limitExceeded(.metadataByteCount, needed: 11, allowed: 10)) {
            _ = try source(codec, limits).metadata()
        }
        codec.blocks = MetadataBlocks()
        codec.blocks.xmp = Array("<a><b><c/></b></a>".utf8)
        limits = DecodeLimits()
        limits.maximumNestingDepth = 3
        #expect(try source(codec, limits).metadata() == codec.blocks)
        limits.maximumNestingDepth = 2
        #expect(throws: CodecError.limitExceeded(.nestingDepth, needed: 3, allowed: 2)) {
            _ = try source(codec, limits).metadata()
        }
    }
}
