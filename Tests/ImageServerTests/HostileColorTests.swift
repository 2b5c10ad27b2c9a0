// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageTesting
import Pixels
import Testing

@testable import ImageServer

/// Row 22 of the attacks that a server must survive: hostile colours and orientations.
@Suite("An image with unusual colours") struct HostileColorTests {
    private static let base = SampleFiles.packageDirectory
        .appending(path: "Corpus/jpeg/valid/baseline-444.jpg")

    /// Files of all sample formats.
    private static let samples =
        ["jpeg", "png", "tiff", "jpeg2000"].flatMap { SampleFiles.own($0, "valid") }
        .filter { file in
            ["cmyk", "lab", "gray-1", "16", "float", "signed", "group", "white", "alpha"]
                .contains { file.lastPathComponent.contains($0) }
        }

    /// A JPEG file with additional bytes after its first marker.
    private static func file(_ marker: UInt8, _ payload: [UInt8]) throws -> [UInt8] {
        let file = Array(try Data(contentsOf: base))
        let length = payload.count + 2
        let segment = [0xFF, marker, UInt8(length >> 8), UInt8(length & 255)] + payload
        return Array(file[..<2]) + segment + Array(file[2...])
    }

    /// The size in the PNG header of an image requested large enough not to be reduced.
    private static func size(_ gallery: TestGallery, _ name: String) async throws -> PixelSize? {
        let answer = try await gallery.get("/4096x4096,png/\(name)")
        #expect([200, 422].contains(answer.status), "\(name): \(answer.text.prefix(200))")
        guard answer.status == 200 else { return nil }
        let sides = [16, 20].map { start in
            answer.body[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
        }
        return PixelSize(width: sides[0], height: sides[1])
    }

    /// The upright size of an image according to Pillow.
    private static func peerSize(_ path: String) throws -> PixelSize? {
        guard let python = PeerTool.python else { return nil }
        let script = """
            import sys; from PIL import Image, ImageOps
            print(*ImageOps.exif_transpose(Image.open(sys.argv[1])).size, end='')
            """
        guard let text = try PeerTool.run(python, ["-c", script, path]) else { return nil }
        let sides = String(decoding: text, as: UTF8.self).split(separator: " ").compactMap {
            Int($0)
        }
        return sides.count == 2 ? PixelSize(width: sides[0], height: sides[1]) : nil
    }

    @Test(
        "has the right size for all sample formats",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"),
        arguments: samples)
    func ownSize(file: URL) async throws {
        let gallery = try TestGallery()
        try gallery.file("a.\(file.pathExtension)", Array(try Data(contentsOf: file)))
        let size = try #require(try await Self.size(gallery, "a.\(file.pathExtension)"))
        if let expected = try Self.peerSize(file.path) { #expect(size == expected) }
    }

    @Test(
        "in Lab has the right size",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set")) func lab() async throws
    {
        let gallery = try TestGallery()
        let path = gallery.folder.appending(path: "lab.tif").path
        let script =
            "import sys; from PIL import Image; Image.new('LAB', (31, 17)).save(sys.argv[1])"
        let python = try #require(PeerTool.python)
        _ = try #require(try PeerTool.run(python, ["-c", script, path]))
        let size = try await Self.size(gallery, "lab.tif")
        #expect(size == PixelSize(width: 31, height: 17))
    }

    @Test(
        "is unrotated with an invalid orientation",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"),
        arguments: [0, 1, 5, 6, 8, 9, 255, 65_535], [true, false])
    func orientation(orientation: Int, isLittleEndian: Bool) async throws {
        let gallery = try TestGallery()
        let block = EXIFBlock.photograph(isLittleEndian: isLittleEndian, orientation: orientation)
        try gallery.file("a.jpg", Self.file(0xE1, Array("Exif\0\0".utf8) + block))
        let path = gallery.folder.appending(path: "a.jpg").path
        let size = try #require(try await Self.size(gallery, "a.jpg"))
        let expected = try Self.peerSize(path)
        #expect(size == expected)
    }

    /// An sRGB profile written by a library.
    private static func profile() throws -> [UInt8] {
        let script = """
            import sys; from PIL import ImageCms
            profile = ImageCms.ImageCmsProfile(ImageCms.createProfile('sRGB'))
            sys.stdout.buffer.write(profile.tobytes())
            """
        let python = try #require(PeerTool.python)
        return try #require(try PeerTool.run(python, ["-c", script]))
    }

    @Test(
        "with a damaged or unsuitable profile is treated as sRGB, or rejected",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"))
    func profiles() async throws {
        let profile = try Self.profile()
        func with(_ text: String, at offset: Int) -> [UInt8] {
            var changed = profile
            changed.replaceSubrange(offset..<offset + 4, with: Array(text.utf8))
            return changed
        }
        var profiles: [[UInt8]] = [[], [0], [UInt8](repeating: 0, count: 128)]
        profiles += (1..<16).map { Array(profile.prefix(profile.count * $0 / 16)) }
        profiles += ["link", "abst", "nmcl", "xxxx"].map { with($0, at: 12) }
        profiles += ["CMYK", "GRAY", "Lab ", "FCLR", "xxxx"].map { with($0, at: 16) }
        profiles += [
            with("\u{7F}\u{7F}\u{7F}\u{7F}", at: 0), with("\u{7F}\u{7F}\u{7F}\u{7F}", at: 128),
        ]
        let gallery = try TestGallery()
        try gallery.file("plain.jpg", Array(try Data(contentsOf: Self.base)))
        let plain = try await gallery.get("/4096x4096,png/plain.jpg")
        for (number, profile) in profiles.enumerated() {
            let segment = Array("ICC_PROFILE\0".utf8) + [1, 1] + profile
            try gallery.file("\(number).jpg", Self.file(0xE2, segment))
            let answer = try await gallery.get("/4096x4096,png/\(number).jpg")
            #expect([200, 422].contains(answer.status), "\(number): \(answer.text.prefix(200))")
            if answer.status == 200 { #expect(answer.body == plain.body, "\(number)") }
        }
    }
}
