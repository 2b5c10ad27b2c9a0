// SPDX-License-Identifier: Apache-2.0

#if Zstandard
import EncodedImages
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@testable import Textures

@Suite("KTX 2 with Zstandard")
struct SupercompressionTests {
    /// The blocks of 64×64 pixels.
    private static let blocks = (0..<4096).map { UInt8($0 % 48 * 5) }
    /// The same bytes, compressed by libzstd 1.5.
    private static let frame: [UInt8] = {
        let text = """
            28b52ffd60000fcd0100040300050a0f14191e23282d32373c41464b50555a5f64696e73787d82878c91969b\
            a0a5aaafb4b9bec3c8cdd2d7dce1e6eb0100d0fce92b28
            """
        return stride(from: 0, to: text.count, by: 2).compactMap { start in
            UInt8(text.dropFirst(start).prefix(2), radix: 16)
        }
    }()

    /// Returns a KTX 2 file with BC7 blocks.
    private func file(
        _ level: [UInt8], scheme: Int, byteCount: Int = 4096, side: Int = 64, layerCount: Int = 0
    ) -> EncodedBytes {
        var bytes = KTX2Reader.magic
        bytes.appendLittleEndian32(
            145, 1, side, side, 0, layerCount, 1, 1, scheme, 0, 0, 0, 0, 0, 0, 0, 0)
        bytes.appendLittleEndian32(104, 0, level.count, 0, byteCount, 0)
        return EncodedBytes(bytes + level)
    }

    private func image(_ file: EncodedBytes) throws(CodecError) -> PixelBuffer {
        var options = DecodeOptions()
        options.acceptsTruncated = false
        return try ImageSource(file, codecs: builtInCodecs).image(options)
    }

    @Test("is decoded like the blocks that it contains")
    func decoded() throws {
        let plain = try image(file(Self.blocks, scheme: 0))
        let compressed = try image(file(Self.frame, scheme: 2))
        for y in 0..<64 {
            let (row, other) = (plain.row(y), compressed.row(y))
            #expect(row.indices.allSatisfy { row[$0] == other[$0] })
        }
    }

    @Test("has each layer as a page")
    func layers() throws {
        let plain = try ImageSource(
            file(Self.blocks, scheme: 0, side: 16, layerCount: 16), codecs: builtInCodecs)
        let compressed = try ImageSource(
            file(Self.frame, scheme: 2, side: 16, layerCount: 16), codecs: builtInCodecs)
        #expect(plain.header.pageCount == 16 && compressed.header.pageCount == 16)
        for page in 0..<16 {
            let layer = Array(Self.blocks[256 * page..<256 * (page + 1)])
            let alone = try image(file(layer, scheme: 0, byteCount: 256, side: 16))
            let images = [try plain.page(page).image(), try compressed.page(page).image()]
            for image in images {
                for y in 0..<16 {
                    let (row, other) = (alone.row(y), image.row(y))
                    #expect(row.indices.allSatisfy { row[$0] == other[$0] })
                }
            }
        }
    }

    @Test("that ends early or is damaged is a typed error")
    func damaged() {
        let short = Array(Self.frame.prefix(30))
        #expect(throws: CodecError.self) { try image(file(short, scheme: 2)) }
        // A limit on the window, of which a compressor for 4096 bytes needs 4096.
        let wide: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0xF8, 0x03, 0x80, 0x00, 0x5A]
        #expect(throws: CodecError.self) { try image(file(wide, scheme: 2)) }
        for index in 0..<Self.frame.count {
            var frame = Self.frame
            frame[index] ^= 0x55
            // An image or an error, never a trap.
            _ = try? image(file(frame, scheme: 2))
        }
    }

    @Test("whose level has another size than the header states is malformed")
    func sizes() {
        #expect(
            throws: CodecError.malformed(reason: "level 0 has 4095 bytes, not 4096", offset: 96)
        ) { try image(file(Self.frame, scheme: 2, byteCount: 4095)) }
        // The bytes of both layers are counted.
        #expect(
            throws: CodecError.malformed(reason: "level 0 has 4096 bytes, not 8192", offset: 96)
        ) { try image(file(Self.frame, scheme: 2, layerCount: 2)) }
    }
}
#endif
