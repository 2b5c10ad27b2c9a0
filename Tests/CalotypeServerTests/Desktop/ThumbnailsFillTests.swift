// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import Glibc
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@testable import ImageCommands

/// Needs the PNG codec, which a build without that trait lacks.
@Suite(
    "thumbnails fill", .timeLimit(.minutes(10)),
    .enabled(if: builtInCodecs.codec(named: "png") != nil))
struct ThumbnailsFillTests {
    private let folder: TemporaryFolder

    /// Two images of 600x300 pixels, one in a subfolder, and a file that is no image.
    init() throws {
        folder = try TemporaryFolder()
        try makeFolder(folder.path("in/sub é"))
        let image = TestImage.photograph(PixelSize(width: 600, height: 300))
        let destination = try ImageDestination(format: "png", codecs: builtInCodecs)
        for name in ["in/a.png", "in/sub é/b c.png"] {
            try destination.write(image, to: folder.path(name))
        }
    }

    private func fill(_ arguments: [String] = []) async throws -> BuiltCommand.Answer {
        try await BuiltCommand.run(
            ["thumbnails", "fill", folder.path("in"), "--quiet"] + arguments,
            environment: ["XDG_CACHE_HOME": folder.path("cache")])
    }

    private func entries(_ subfolder: String) -> [String] {
        let path = folder.path("cache/thumbnails/\(subfolder)")
        return ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }

    private func permissions(_ name: String) throws -> Int? {
        let path = folder.path("cache/thumbnails/\(name)")
        return try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test("stores each size where Python expects it, for the owner alone")
    func stored() async throws {
        let answer = try await fill(["--sizes", "large,x-large", "--json"])
        #expect(answer.code == 0, "\(answer.errors)")
        #expect(entries("large").count == 2)
        #expect(entries("large") == entries("x-large"))
        #expect(entries("normal").isEmpty)
        for name in entries("large") {
            #expect(try permissions("large/\(name)") == 0o600)
        }
        #expect(try permissions("") == 0o700)
        #expect(try permissions("large") == 0o700)
        guard PeerTool.python != nil else { return }
        for name in ["in/a.png", "in/sub é/b c.png"] {
            let (uri, entry) = try DesktopPeer.name(Array(folder.path(name).utf8))
            for (size, side) in [("large", 256), ("x-large", 512)] {
                let path = folder.path("cache/thumbnails/\(size)/\(entry)")
                let texts = try DesktopPeer.texts(path)
                #expect(texts["Thumb::URI"] == uri)
                #expect(texts["width"] == "\(side)")
                #expect(texts["height"] == "\(side / 2)")
            }
        }
    }

    @Test("keeps valid thumbnails and replaces those of a file that has changed")
    func valid() async throws {
        _ = try await fill()
        let names = entries("large")
        let inodes = try names.map { try inode("large/\($0)") }
        let again = try await fill(["--json"])
        #expect(again.code == 0)
        #expect(try names.map { try inode("large/\($0)") } == inodes)
        #expect(again.output.components(separatedBy: "\"valid\": 2").count == 3)
        var past = [timespec(tv_sec: 0, tv_nsec: 0), timespec(tv_sec: 5, tv_nsec: 0)]
        #expect(unsafe utimensat(AT_FDCWD, folder.path("in/a.png"), &past, 0) == 0)
        let changed = try await fill(["--json"])
        #expect(changed.output.components(separatedBy: "\"valid\": 2").count == 2)
        #expect(changed.output.components(separatedBy: "\"valid\": 0").count == 2)
        #expect(entries("large") == names)
    }

    /// Returns the inode of an entry, which changes when it is replaced.
    private func inode(_ name: String) throws -> UInt64 {
        var status = stat()
        let path = folder.path("cache/thumbnails/\(name)")
        try #require(unsafe stat(path, &status) == 0)
        return UInt64(status.st_ino)
    }

    @Test("records a file that cannot be read, and reads it again once it has changed")
    func failures() async throws {
        let path = folder.path("in/broken.jpg")
        try Data("text".utf8).write(to: URL(filePath: path))
        let first = try await fill()
        #expect(first.code == 1)
        #expect(first.errors.hasPrefix("calotype: \(path): unknown image format\n"))
        let entry = try #require(entries("fail/calotype").first)
        let second = try await fill()
        #expect(second.code == 1)
        let record = folder.path("cache/thumbnails/fail/calotype/\(entry)")
        #expect(second.errors.contains("to try again, delete \(record)"))
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.copyItem(atPath: folder.path("in/a.png"), toPath: path)
        #expect(try await fill().code == 0)
        #expect(entries("large").count == 3)
    }

    @Test("makes no thumbnails of thumbnails") func ownFolder() async throws {
        let cache = folder.path("in/cache")
        for _ in 0..<2 {
            let answer = try await BuiltCommand.run(
                ["thumbnails", "fill", folder.path("in"), "--quiet", "--sizes", "large"],
                environment: ["XDG_CACHE_HOME": cache])
            #expect(answer.code == 0)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(cache)/thumbnails/large")
        #expect(names.count == 2)
    }

    @Test("makes all sizes from the pixels of one decode") func similarity() throws {
        let input = folder.path("in/a.png")
        let uri = try #require(FileURI(input))
        let files = try ThumbnailMaker(builtInCodecs)
            .thumbnails(of: try ThumbnailedFile(uri), sides: [128, 512])
        let source = try ImageSource(EncodedBytes(mapping: input), codecs: builtInCodecs)
        for (file, side) in zip(files, [128, 512]) {
            let own = try ImageSource(EncodedBytes(file), codecs: builtInCodecs).image()
            let direct = try source.image(DecodeOptions(maximumSide: side))
            #expect(own.size == direct.size)
            #expect(own.structuralSimilarity(to: direct) > 0.99)
        }
    }

    @Test("names the valid sizes if one is unknown") func unknownSize() async throws {
        let answer = try await fill(["--sizes", "huge"])
        #expect(answer.code == 64)
        #expect(answer.errors.contains("invalid thumbnail size: huge; use normal, large"))
    }
}
