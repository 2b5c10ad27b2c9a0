// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageCommands
import ImageTesting
import Pixels
import Testing

@testable import AssetCatalogs
@testable import AssetTool

@Suite("Sources for pages")
struct SourceSetTests {
    @Test("each format has the widths up to that of the image, under names of their content")
    func files() throws {
        try withTemporaryFolder { folder in
            let path = folder.appending(path: "a photo.png").path
            let png = try ImageDestination(format: "png", codecs: builtInCodecs)
            let size = PixelSize(width: 90, height: 60)
            try png.write(TestImage.photograph(size), to: path)
            let output = folder.appending(path: "out").path
            try makeFolder(output)
            let maker = SourceSetMaker(
                codecs: builtInCodecs,
                destinations: try ["webp", "jpeg"].map {
                    try ImageDestination(format: $0, codecs: builtInCodecs)
                }, widths: [30, 60, 120], folder: output)
            let file = try InputFiles(builtInCodecs, isRecursive: true).find([path])[0].get()
            let set = try maker.make(file, CancellationFlag())
            #expect(set.files.map(\.size.width) == [30, 60, 30, 60])
            #expect(set.files.map(\.size.height) == [20, 40, 20, 40])
            for file in set.files {
                let image = try ImageSource(
                    EncodedBytes(mapping: "\(output)/\(file.name)"), codecs: builtInCodecs)
                #expect(image.pixelSize == file.size)
                #expect(image.format.mediaType == file.mediaType)
            }
            let element = set.element(prefix: "/i/", sizes: "\"")
            #expect(element.contains("<source type=\"image/webp\" srcset=\"/i/a%20photo-30-"))
            #expect(element.contains("sizes=\"&quot;\" width=\"60\" height=\"40\""))
            let again = try maker.make(file, CancellationFlag())
            #expect(again.files.map(\.name) == set.files.map(\.name))
        }
    }
}

@Suite("Icon themes")
struct IconThemeTests {
    @Test("folders have the size in points and the scale, and templates are symbolic")
    func files() throws {
        try withTemporaryFolder { folder in
            let generated = GeneratedCatalog(folder: folder.appending(path: "A.xcassets"))
            func image(_ side: Int) -> PixelBuffer {
                TestImage.noise(PixelSize(width: side, height: side), .rgba8)
            }
            try generated.addImages(
                "My Save",
                [
                    (#""scale": "1x""#, image(16)), (#""scale": "2x""#, image(32)),
                    (#""idiom": "mac", "scale": "1x""#, image(24)),
                ])
            try generated.write("Go.imageset/a.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>")
            try generated.write(
                "Go.imageset/Contents.json",
                #"""
                {"images": [{"filename": "a.svg"}],
                "properties": {"template-rendering-intent": "template"}}
                """#)
            let theme = try IconTheme(try generated.opened(), name: "Test", builtInCodecs)
            #expect(theme.failures == [])
            #expect(
                theme.files.map(\.path) == [
                    "symbolic/apps/Go-symbolic.svg", "16x16/apps/My-Save.png",
                    "16x16@2/apps/My-Save.png",
                ])
            #expect(theme.index.contains("\nDirectories=16x16/apps,symbolic/apps\n"))
            #expect(theme.index.contains("\nScaledDirectories=16x16@2/apps\n"))
            #expect(theme.index.contains("[16x16@2/apps]\nSize=16\nScale=2\n"))
            #expect(theme.index.hasPrefix("[Icon Theme]\nName=Test\nComment=Test\n"))
            #expect(
                theme.resources(prefix: "/a&b").contains("<gresource prefix=\"/a&amp;b\">"))
        }
    }
}

extension IconThemeTests {
    @Test(
        "the name of a theme is that of its folder",
        arguments: [
            ("icons/My Theme", "My Theme"), ("icons/My Theme/", "My Theme"), ("/a/./b/..", "a"),
            ("/", "Icons"),
        ])
    func name(folder: String, name: String) { #expect(AssetTheme.themeName(folder) == name) }

    @Test("the current folder has a name", arguments: ["", ".", "./"])
    func currentFolder(folder: String) {
        let current = URL(filePath: FileManager.default.currentDirectoryPath).lastPathComponent
        #expect(AssetTheme.themeName(folder) == current)
    }

    @Test("a name with line breaks is one line of index.theme")
    func lines() throws {
        try withTemporaryFolder { folder in
            let theme = try IconTheme(
                try AssetCatalog(folder: folder.path), name: " a\\\nHidden=true", builtInCodecs)
            #expect(theme.index.contains("\nName=\\sa\\\\\\nHidden=true\n"))
            #expect(!theme.index.contains("\nHidden"))
        }
    }
}

@Suite("Swift names")
struct AssetNamesTests {
    @Test("names are identifiers, and distinct")
    func identifiers() {
        let names = ["Toolbar/Share", "URLIcon", "2x", "case", "a-b", "a b", "\u{E9}\"\n"]
        let assets = names.map {
            Asset(
                key: Asset.Key(.image, $0), path: "", slots: [], renderingMode: nil,
                preservesVectors: false, compressionType: nil)
        }
        let cases = AssetNames(assets, of: "Assets.xcassets").text.split(separator: "\n")
            .filter { $0.contains("case ") }.map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(
            Set(cases) == [
                #"case toolbarShare = "Toolbar/Share""#, #"case urlIcon = "URLIcon""#,
                #"case _2x = "2x""#, #"case `case` = "case""#, #"case aB = "a b""#,
                #"case aB_2 = "a-b""#, "case _asset = \"\u{E9}\\\"\\u{a}\"",
            ])
    }
}
