// SPDX-License-Identifier: Apache-2.0

import AssetCatalogs
import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels

/// Catalogs of applications; the tests that use them are skipped where they are missing.
enum RealCatalogs {
    private static let root =
        ProcessInfo.processInfo.environment["CALOTYPE_CORPUS"].map { URL(filePath: $0) }
        ?? SampleFiles.packageDirectory.appending(path: "../shared/corpus").standardized
    static let folder = root.appending(path: "catalogs")
    static let acextract = folder.appending(path: "acextract/Images.xcassets").path
    static let exists = FileManager.default.fileExists(atPath: acextract)
    static let all =
        ["Mac/Resources", "iOS/Resources", "Widget"].map {
            folder.appending(path: "netnewswire/\($0)/Assets.xcassets").path
        }.filter { FileManager.default.fileExists(atPath: $0) } + (exists ? [acextract] : [])
}

/// The folder of a catalog that a test writes.
struct GeneratedCatalog {
    let folder: URL

    func write(_ path: String, _ bytes: [UInt8]) throws {
        let file = folder.appending(path: path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: file)
    }

    func write(_ path: String, _ text: String) throws { try write(path, Array(text.utf8)) }

    /// Writes an image set; each slot is a list of properties in JSON, its file a PNG.
    func addImages(
        _ name: String, _ slots: [(properties: String, image: PixelBuffer)],
        properties: String = "{}"
    ) throws {
        let png = try ImageDestination(format: "png", codecs: builtInCodecs)
        var list: [String] = []
        for (index, slot) in slots.enumerated() {
            try write("\(name).imageset/\(index).png", try png.encode(slot.image))
            let separator = slot.properties.isEmpty ? "" : ", "
            list.append(#"{"filename": "\#(index).png"\#(separator)\#(slot.properties)}"#)
        }
        try write(
            "\(name).imageset/Contents.json",
            #"{"images": [\#(list.joined(separator: ","))], "properties": \#(properties)}"#)
    }

    func opened() throws -> AssetCatalog { try AssetCatalog(folder: folder.path) }
}

/// Compiles a catalog; sources that cannot be encoded are left out.
func compile(
    _ catalog: AssetCatalog, _ options: CatalogCompiler.Options = .init()
) throws -> (bytes: [UInt8], entries: [CatalogCompiler.Entry]) {
    let compiler = CatalogCompiler(catalog, options: options, codecs: builtInCodecs)
    return try compiler.file(compiler.sources.map { try? compiler.encode($0) })
}

/// A catalog with an asset of each kind and an image of each coding.
func mixedCatalog(in folder: URL) throws -> GeneratedCatalog {
    let catalog = GeneratedCatalog(folder: folder)
    let size = PixelSize(width: 20, height: 14)
    let mask = TestImage.make(size, .rgba8) { x, y, channel in
        channel == 3 ? UInt8((x * 11 + y * 7) % 256) : [10, 200, 90][channel]
    }
    let palette = TestImage.make(size, .rgb8) { x, y, channel in
        UInt8((x / 4 + y / 5) % 3 * 60 + channel)
    }
    try catalog.addImages(
        "Mask", [("\"scale\": \"1x\"", mask), ("\"scale\": \"2x\", \"idiom\": \"mac\"", palette)],
        properties: #"{"template-rendering-intent": "template"}"#)
    try catalog.addImages(
        "Tools/Noise",
        [
            (
                #"""
                "alignment-insets": {"top": 1, "left": 2.5}, "resizing": {"mode": "9-part",
                "center": {"mode": "tile", "width": 3}, "cap-insets": {"bottom": 4, "right": 5}}
                """#, TestImage.noise(size, .rgba8)
            ),
            (
                #""appearances": [{"appearance": "luminosity", "value": "dark"}]"#,
                TestImage.noise(PixelSize(width: 90, height: 80), .rgb8)
            ),
        ])
    try catalog.addImages("Photo", [("", TestImage.photograph(PixelSize(width: 60, height: 50)))])
    try catalog.write(
        "Tools/Contents.json", #"{"properties": {"provides-namespace": true}}"#)
    try catalog.write(
        "Tint.colorset/Contents.json",
        #"""
        {"colors": [{"color": {"color-space": "display-p3", "components": {"red": "0x33",
        "green": "0.5", "blue": "7", "alpha": 1}}}, {"idiom": "mac",
        "color": {"reference": "labelColor"}}]}
        """#)
    try catalog.write("Rules.dataset/rules.txt", "one\ntwo\n")
    try catalog.write(
        "Rules.dataset/Contents.json", #"{"data": [{"filename": "rules.txt"}, {"idiom": "tv"}]}"#)
    try catalog.write("Old.launchimage/Contents.json", "{}")
    return catalog
}
