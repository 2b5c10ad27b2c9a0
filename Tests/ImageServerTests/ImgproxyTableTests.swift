// SPDX-License-Identifier: Apache-2.0

import Foundation
import ImageTesting
import Pixels
import Testing

@testable import ImageServer

@Suite("The table of imgproxy's options") struct ImgproxyTableTests {
    /// The arguments with which each supported option is tested, by its first name.
    private static let arguments = [
        "resize": "fill:20:10:1:1:no", "size": "20:10:0:1", "resizing_type": "force",
        "width": "20", "height": "20", "dpr": "2", "enlarge": "1", "extend": "1:soea:1:2",
        "gravity": "fp:0.2:0.3", "crop": "10:0.5:nowe:1:1", "trim": "10:ffffff:1:0",
        "padding": "1:2:3:4", "auto_rotate": "1", "rotate": "90", "flip": "1",
        "background": "1:2:3", "brightness": "5", "contrast": "1.5", "saturation": "0.5",
        "monochrome": "1", "blur": "2", "sharpen": "1", "pixelate": "3",
        "watermark": "0.5:soea:1:0.1:0.2", "strip_metadata": "1", "strip_color_profile": "0",
        "quality": "70", "autoquality": "ssim:0.9", "format": "png", "disable_animation": "1",
        "cachebuster": "1", "expires": "99999999999", "filename": "a", "preset": "thumb",
    ]

    /// A row: all names of an option, and whether it is refused.
    struct Row: Sendable, CustomTestStringConvertible {
        let names: [String]
        let isRefused: Bool
        var testDescription: String { names.joined(separator: ", ") }
    }

    static let rows: [Row] = {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let page = root.appending(path: "Sources/ImageServer/ImageServer.docc/FromImgproxy.md")
        let text = (try? String(contentsOf: page, encoding: .utf8)) ?? ""
        let table = text.components(separatedBy: "## Sources")[0]
        return table.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            return Row(
                names: cells[0].split(separator: ",").map {
                    $0.trimmingCharacters(in: CharacterSet(charactersIn: " `"))
                },
                isRefused: cells.last == "refused")
        }
    }()

    private func gallery() throws -> TestGallery {
        let gallery = try TestGallery {
            $0.imgproxy = ImgproxyKeys()
            $0.presets = ["thumb": "16x16"]
            $0.watermark = Watermark(TestImage.flat(PixelSize(width: 2, height: 2), .gray8, [9]))
        }
        try gallery.image("1.png")
        return gallery
    }

    @Test("has a row for each option of the open edition") func isComplete() {
        #expect(Self.rows.count == 50)
        let supported = Self.rows.filter { !$0.isRefused }.compactMap(\.names.first)
        #expect(Set(supported) == Set(Self.arguments.keys))
        let names = Self.rows.flatMap(\.names)
        #expect(Set(names).count == names.count)
        #expect(Set(names).isSubset(of: Set(ImgproxyOptions.names.map(String.init))))
    }

    @Test("tells which are accepted and which are refused by name", arguments: rows)
    func row(_ row: Row) async throws {
        let gallery = try gallery()
        for name in row.names {
            let option = "\(name):\(Self.arguments[row.names[0]] ?? "1")"
            let answer = try await gallery.get("/_/\(option)/plain/1.png")
            if row.isRefused {
                #expect(answer.status == 400, "\(option)")
                #expect(answer.text.contains("unsupported option \u{201C}\(option)"))
            } else {
                #expect(answer.status == 200, "\(option): \(answer.text.prefix(200))")
            }
        }
    }

    @Test("leaves out options that are refused by name") func others() async throws {
        let gallery = try gallery()
        let listed = Set(Self.rows.flatMap(\.names))
        let others = ImgproxyOptions.names.map(String.init).filter { !listed.contains($0) }
        #expect(others.contains("wmu"))
        for name in others {
            let answer = try await gallery.get("/_/\(name):1/plain/1.png")
            #expect(answer.status == 400, "\(name)")
            #expect(answer.text.contains("unsupported option \u{201C}\(name):1"))
        }
    }
}
