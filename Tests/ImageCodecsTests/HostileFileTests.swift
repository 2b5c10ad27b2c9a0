// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

/// Malicious files with the expected result of each, from the codecs that are available in a sandbox.
@Suite("Hostile files") struct HostileFileTests {
    struct Entry: Decodable, Sendable, CustomStringConvertible {
        let file: String
        let format: String
        let expect: String
        var description: String { file }
    }

    static let folder = SampleFiles.real("bombs", extensions: ["json"]).first?
        .deletingLastPathComponent()

    private static let codecs = sandboxCodecs()

    static var entries: [Entry] {
        guard let folder,
            let manifest = try? Data(contentsOf: folder.appending(path: "manifest.json")),
            let entries = try? JSONDecoder().decode([Entry].self, from: manifest)
        else { return [] }
        return entries.filter {
            $0.format == "unknown" || codecs.codec(named: $0.format) != nil
        }
    }

    @Test("cause the expected error or image", arguments: entries)
    func answer(entry: Entry) throws {
        let folder = try #require(Self.folder)
        let decode = { () throws(CodecError) -> PixelSize in
            let bytes = try EncodedBytes(reading: folder.appending(path: entry.file).path)
            return try ImageSource(bytes, codecs: Self.codecs)
                .image(DecodeOptions(maximumSide: 400).strict).size
        }
        switch entry.expect {
        case "decode": #expect(try decode().largestSide <= 400)
        case "refuse": #expect(throws: CodecError.self) { _ = try decode() }
        default:
            // Either result is accepted, as long as there is one.
            let size = try? decode()
            #expect(size.map { $0.largestSide <= 400 } ?? true)
        }
    }
}
