// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import ImageTesting
import Pixels
import Testing

@testable import Textures

@Suite("Texture headers")
struct TextureHeaderTests {
    /// Returns a file of 64×64 pixels in each container.
    private static func files() -> [(name: String, bytes: [UInt8])] {
        let blocks = [UInt8](repeating: 0x5A, count: 4096)
        let pvr = Texture(
            .pvrtc4, PixelSize(width: 64, height: 64), .straight,
            levels: [Array(blocks.prefix(2048)), Array(blocks.prefix(512))])
        var ktx = KTXReader.magic
        ktx.appendLittleEndian32(
            0x0403_0201, 0, 1, 0, 0x9278, 0x1908, 64, 64, 0, 0, 1, 1, 0, 4096)
        var ktx2 = KTX2Reader.magic
        ktx2.appendLittleEndian32(145, 1, 64, 64, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        ktx2.appendLittleEndian32(104, 0, 4096, 0, 4096, 0)
        var dds = DDSReader.magic
        dds.appendLittleEndian32(124, 0x1007, 64, 64, 0, 0, 0)
        dds.appendLittleEndian32(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32, 4)
        dds += Array("DXT5".utf8)
        dds.appendLittleEndian32(0, 0, 0, 0, 0, 0x1000, 0, 0, 0, 0)
        return [
            ("PVR 2", pvr.pvr2File()), ("PVR 3", pvr.pvr3File()), ("KTX 1", ktx + blocks),
            ("KTX 2", ktx2 + blocks), ("DDS", dds + blocks),
        ]
    }

    private func header(of file: [UInt8]) throws(CodecError) -> TextureHeader {
        try TextureHeader(file.span)
    }

    @Test("of every container state its format, size and levels")
    func containers() throws {
        let formats: [String: TextureFormat] = [
            "PVR 2": .pvrtc4, "PVR 3": .pvrtc4, "KTX 1": .etc2Alpha, "KTX 2": .bc7, "DDS": .bc3,
        ]
        for (name, bytes) in Self.files() {
            let header = try self.header(of: bytes)
            #expect(header.container.rawValue == name)
            #expect(header.format == formats[name])
            #expect(header.size == PixelSize(width: 64, height: 64))
            let range = try #require(header.levels.first)
            #expect(range.count == (header.format == .pvrtc4 ? 2048 : 4096))
            #expect(range.upperBound <= bytes.count)
        }
    }

    @Test("of version 2 of PVR cannot state straight alpha, of version 3 can")
    func alpha() throws {
        let files = Self.files()
        #expect(try header(of: files[0].bytes).alpha == .premultiplied)
        #expect(try header(of: files[1].bytes).alpha == .straight)
    }

    @Test("of formats that are not supported name the format")
    func unsupported() throws {
        var astc = Self.files()[1].bytes
        astc[8] = 41
        #expect(throws: CodecError.unsupported(feature: "ASTC of three dimensions")) {
            try header(of: astc)
        }
        var zstd = Self.files()[3].bytes
        zstd[44] = 2
        #expect(
            throws: CodecError.unsupported(feature: "KTX 2 with Zstandard supercompression")
        ) { try header(of: zstd) }
        let other: [UInt8] = [0, 1, 2, 3]
        #expect(throws: CodecError.unknownFormat) { try header(of: other) }
    }

    @Test("of truncated files are an error, and so are levels beyond the end")
    func truncated() throws {
        for (name, bytes) in Self.files() {
            let start = Array(bytes.prefix(40))
            #expect(throws: CodecError.self, "\(name)") { try self.header(of: start) }
            let cut = Array(bytes.prefix(bytes.count - 2400))
            let header = try self.header(of: cut)
            #expect(throws: CodecError.truncated(byteCount: cut.count), "\(name)") {
                try TextureRows(header, level: 0).decode(cut.span) { _ in }
            }
        }
    }

    @Test("with changed bytes give a header or a typed error, and decode within its size")
    func mutated() {
        var random = SeededRandom(seed: 31)
        let files = Self.files().map(\.bytes)
        var decodedCount = 0
        for number in 0..<5000 {
            var bytes = files[number % files.count]
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let headerByteCount = min(bytes.count, 160)
                bytes[Int.random(in: 0..<headerByteCount, using: &random)] =
                    .random(in: 0...255, using: &random)
            }
            guard let header = try? self.header(of: bytes), header.size.area < 1 << 22 else {
                continue
            }
            let level = header.levelCount - 1
            var rowCount = 0
            let result: Void? = try? TextureRows(header, level: level).decode(bytes.span) { _ in
                rowCount += 1
            }
            if result != nil {
                #expect(rowCount == header.size(ofLevel: level).height)
                decodedCount += 1
            }
        }
        #expect(decodedCount > 500)
    }
}
