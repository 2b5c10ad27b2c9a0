// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
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
        for (scheme, name) in [
            (1, "Basis Universal ETC1S"), (3, "KTX 2 with zlib supercompression"),
        ] {
            var bytes = Self.files()[3].bytes
            bytes[44] = UInt8(scheme)
            #expect(throws: CodecError.unsupported(feature: name)) { try header(of: bytes) }
        }
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

    /// The number of damaged files; `CALOTYPE_DEEP_FILES` asks for more.
    private static let damageCount =
        ProcessInfo.processInfo.environment["CALOTYPE_DEEP_FILES"] == nil ? 5000 : 50_000

    @Test("with changed bytes give an image or a typed error, within the limits of the decoder")
    func mutated() throws {
        var random = SeededRandom(seed: 31)
        var files = Self.files().map(\.bytes)
        // BC6H, ASTC of 4×4 and 12×12, and packed texels in the places of the other blocks.
        for (number, offset, format) in [(1, 8, 14), (1, 8, 27), (1, 8, 40), (3, 12, 37)] {
            files.append(files[number])
            files[files.count - 1][offset] = UInt8(format)
        }
        var limits = DecodeLimits()
        limits.maximumPixelCount = 1 << 16
        limits.maximumMemoryByteCount = 1 << 20
        var decodedCount = 0
        var refusedCount = 0
        for number in 0..<Self.damageCount {
            var bytes = files[number % files.count]
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let headerByteCount = min(bytes.count, 160)
                bytes[Int.random(in: 0..<headerByteCount, using: &random)] =
                    .random(in: 0...255, using: &random)
            }
            if number % 7 == 0 {
                bytes.removeLast(.random(in: 0..<bytes.count, using: &random))
            }
            do throws(CodecError) {
                let source = try ImageSource(
                    EncodedBytes(bytes), codecs: builtInCodecs, limits: limits)
                let image = try source.image(DecodeOptions())
                #expect(image.size == source.pixelSize)
                #expect(image.size.area <= limits.maximumPixelCount)
                decodedCount += 1
            } catch {
                if case .limitExceeded = error { refusedCount += 1 }
            }
        }
        #expect(decodedCount > 500)
        #expect(refusedCount > 20)
    }
}
