// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

extension Bomb {
    /// Files that refer to themselves, and what is nested without end.
    static let loops: [Bomb] = [
        Bomb("tiff of directories in a circle", .image) {
            var file = tiff(grayPixel)
            patch(&file, 8, at: 10 + grayPixel.count * 12)
            return file
        },
        Bomb("tiff of directories within themselves", .image) {
            tiff(grayPixel + [(330, 4, 8), (34665, 4, 8), (34853, 4, 8)])
        },
        Bomb("tiff of 20,000 directories", .image) {
            var file = tiff(grayPixel)
            let directory = Array(file[8..<14 + grayPixel.count * 12])
            for _ in 0..<20_000 {
                patch(&file, file.count, at: file.count - 4)
                file += directory
            }
            return file
        },
        Bomb("png with EXIF that points to itself", .image) {
            // The directories of the camera, of the place and of the thumbnail are the first one.
            var exif = tiff([(0x8769, 4, 8), (0x8825, 4, 8), (0xA005, 4, 8)])
            patch(&exif, 8, at: exif.count - 4)
            return png(1, 1, chunk: "eXIf", exif)
        },
        Bomb("png with XMP of 100,000 levels", .limit(.nestingDepth, at: .metadata)) {
            let levels = [UInt8].repeated(Array("<a>".utf8), count: 100_000)
            return png(
                1, 1, chunk: "iTXt", Array("XML:com.adobe.xmp\0\0\0\0\0".utf8) + levels)
        },
        Bomb("png with XMP of entities within entities", .image) {
            png(
                1, 1, chunk: "iTXt",
                Array(("XML:com.adobe.xmp\0\0\0\0\0" + entities + "<a>&i;</a>").utf8))
        },
    ]

    /// Colour profiles as long as files.
    static let profiles: [Bomb] = [
        Bomb("tiff with a profile of 100 MB", .image) {
            let length = 100_000_000
            let file = tiff(grayPixel + [(34675, 7, length)])
            var result = [UInt8](repeating: 0, count: file.count + length)
            result.replaceSubrange(0..<file.count, with: file)
            patch(&result, file.count, at: 10 + grayPixel.count * 12 + 8)
            return result
        }
    ]

    /// Ten entities of ten of the last each.
    public static let entities: String = {
        let names = "abcdefghi".map(String.init)
        let definitions = zip(names, ["laughter"] + names.map { "&\($0);" }).map { name, content in
            "<!ENTITY \(name) \"\(String(repeating: content, count: 10))\">"
        }
        return "<!DOCTYPE svg [\(definitions.joined())]>"
    }()

    /// A grey pixel, which stands in the file's header.
    private static let grayPixel = [
        (256, 4, 1), (257, 4, 1), (258, 3, 8), (259, 3, 1), (262, 3, 1), (273, 4, 0), (278, 4, 1),
        (279, 4, 1),
    ]

    /// A file with one directory of numbers; the type 7 counts bytes that stand at 0.
    static func tiff(_ entries: [(tag: Int, type: Int, value: Int)]) -> [UInt8] {
        var file: [UInt8] = Array("II".utf8) + .little(42, 2) + .little(8)
        file += .little(entries.count, 2)
        for (tag, type, value) in entries.sorted(by: { $0.tag < $1.tag }) {
            file += .little(tag, 2) + .little(type, 2)
            file += type == 7 ? .little(value) + .little(0) : .little(1) + .little(value)
        }
        return file + .little(0)
    }

    private static func png(
        _ width: Int, _ height: Int, chunk: String, _ body: [UInt8]
    ) -> [UInt8] {
        let file = png(width, height)
        return Array(file.prefix(33)) + PNGFile.chunk(chunk, body) + file.dropFirst(33)
    }

    private static func patch(_ file: inout [UInt8], _ value: Int, at offset: Int) {
        file.replaceSubrange(offset..<offset + 4, with: [UInt8].little(value))
    }
}
