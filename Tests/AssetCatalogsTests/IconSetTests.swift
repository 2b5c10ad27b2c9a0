// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageCommands
import ImageTesting
import Pixels
import Testing

@testable import AssetTool

@Suite("Icons of a web site")
struct IconSetTests {
    /// A square, whose corners a mask would cut off, on a wide drawing.
    private static let drawing = TestImage.make(PixelSize(width: 600, height: 500), .rgba8) {
        x, y, channel in channel == 3 ? ((50..<550).contains(x) ? 255 : 0) : UInt8(channel * 50)
    }

    private func icons() throws -> [String: [UInt8]] {
        try withTemporaryFolder { folder in
            let path = folder.appending(path: "logo.png").path
            let png = try ImageDestination(format: "png", codecs: builtInCodecs)
            try png.write(Self.drawing, to: path)
            let set = IconSet(
                drawing: try IconDrawing(path, builtInCodecs), small: nil,
                background: SRGBColor(red: 1, green: 1, blue: 1), name: "A \"name\"")
            var files: [String: [UInt8]] = [:]
            for file in try set.files(builtInCodecs) { files[file.name] = file.bytes }
            return files
        }
    }

    private func image(_ bytes: [UInt8]?) throws -> PixelBuffer {
        try ImageSource(EncodedBytes(try #require(bytes)), codecs: builtInCodecs).image()
    }

    @Test("favicon.ico has three sizes, and the others have that of their name")
    func sizes() throws {
        let files = try icons()
        let favicon = try ImageSource(
            EncodedBytes(try #require(files["favicon.ico"])), codecs: builtInCodecs)
        let pages = try (0..<favicon.header.pageCount).map { try favicon.page($0).pixelSize.width }
        #expect(Set(pages) == [16, 32, 48])
        for (name, side) in [
            ("apple-touch-icon.png", 180), ("icon-192.png", 192), ("icon-512.png", 512),
            ("icon-maskable-512.png", 512),
        ] {
            #expect(try image(files[name]).size == PixelSize(width: side, height: side), "\(name)")
        }
        #expect(try image(files["apple-touch-icon.png"]).format == .rgb8)
        #expect(files["icon.svg"] == nil)
    }

    @Test(
        "every visible pixel of the maskable icon lies in the safe zone, and one is near its edge")
    func safeZone() throws {
        let icon = try image(try icons()["icon-maskable-512.png"]).asRGBA
        var radius = 0.0
        for y in 0..<512 {
            let row = icon.row(y)
            for x in 0..<512 where row[x * 4] < 250 {
                let (dx, dy) = (abs(Double(x) - 255.5) + 0.5, abs(Double(y) - 255.5) + 0.5)
                radius = max(radius, (dx * dx + dy * dy).squareRoot())
            }
        }
        #expect(radius <= 512 * 0.4)
        #expect(radius > 512 * 0.38)
    }

    @Test(
        "a drawing without its codec is an error that names the trait",
        .enabled(if: !builtInCodecs.codecs.contains { $0.format.name == "svg" }))
    func missingCodec() throws {
        try withTemporaryFolder { folder in
            let path = folder.appending(path: "logo").path
            try Data("<?xml version='1.0'?><svg/>".utf8).write(to: URL(filePath: path))
            #expect(
                throws: FileFailure(path, CodecError.notBuiltIn(format: "svg", trait: "SVG"))
            ) { try IconDrawing(path, builtInCodecs) }
        }
    }

    @Test("the manifest names files that exist")
    func manifest() throws {
        let files = try icons()
        let text = try #require(files["manifest.webmanifest"])
        let object = try JSONSerialization.jsonObject(with: Data(text))
        let manifest = try #require(object as? [String: Any])
        #expect(manifest["name"] as? String == "A \"name\"")
        let entries = try #require(manifest["icons"] as? [[String: String]])
        #expect(entries.count == 3)
        for entry in entries {
            let source = try #require(entry["src"])
            let icon = try image(files[source])
            #expect(entry["sizes"] == "\(icon.size.width)x\(icon.size.height)")
        }
        #expect(entries.filter { $0["purpose"] == "maskable" }.count == 1)
    }
}
