// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageCommands
import ImageTesting
import Pixels
import Testing
import ViewerModel

@Suite("Turning a JPEG file") struct TurningTests {
    private let image: PixelBuffer = {
        var image = MutablePixelBuffer(size: PixelSize(width: 48, height: 32), format: .rgb8)
        for y in 0..<32 {
            image.withMutableRow(y) { row in
                for x in 0..<48 {
                    row[x * 3] = UInt8(x * 5)
                    row[x * 3 + 1] = UInt8(y * 7)
                }
            }
        }
        return image.finish()
    }()

    private func file(_ orientation: UInt8?, isLittleEndian: Bool = false) throws -> [UInt8] {
        let destination = try ImageDestination(format: "jpeg", codecs: builtInCodecs)
        var file = try destination.encode(image)
        guard let orientation else { return file }
        let tiff: [UInt8] =
            isLittleEndian
            ? [
                0x49, 0x49, 42, 0, 8, 0, 0, 0, 2, 0, 0x0F, 1, 2, 0, 2, 0, 0, 0, 65, 0, 0, 0, 0x12,
                1,
                3, 0, 1, 0, 0, 0, orientation, 0, 0, 0, 0, 0, 0, 0,
            ]
            : [
                0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0,
                0,
                0, 0, 0, 0,
            ]
        let body = Array("Exif\0\0".utf8) + tiff
        file.insert(contentsOf: [0xFF, 0xE1, 0, UInt8(body.count + 2)] + body, at: 2)
        return file
    }

    private func turned(_ file: [UInt8], clockwise: Bool) throws -> [UInt8] {
        let edit = try #require(JPEGOrientation.turning(file, clockwise: clockwise))
        #expect(edit.reverse(in: file).applied(to: edit.applied(to: file)) == file)
        return edit.applied(to: file)
    }

    private func decoded(_ file: [UInt8]) throws -> PixelBuffer {
        try ImageSource(EncodedBytes(file), codecs: builtInCodecs).image()
    }

    /// The rows of an image, whose count and length are the size.
    private func rows(_ image: PixelBuffer) -> [[UInt8]] {
        (0..<image.size.height).map { y in
            let row = image.row(y)
            return row.indices.map { row[$0] }
        }
    }

    @Test(
        "turns the decoded image, from each orientation", arguments: [nil, 1, 2, 3, 4, 5, 6, 7, 8])
    func turns(orientation: UInt8?) throws {
        for isLittleEndian in [false, true] {
            let file = try file(orientation, isLittleEndian: isLittleEndian)
            let upright = try decoded(file)
            let right = try decoded(turned(file, clockwise: true))
            #expect(rows(right) == rows(upright.turned(.rotated90)))
            let left = try decoded(turned(file, clockwise: false))
            #expect(rows(left) == rows(upright.turned(.rotated270)))
        }
    }

    @Test("four times restores the orientation") func fourTimes() throws {
        let original = try file(7)
        var file = original
        for _ in 0..<4 { file = try turned(file, clockwise: true) }
        #expect(file == original)
    }

    @Test("refuses other formats and damaged files, cut at any byte") func refused() throws {
        #expect(JPEGOrientation.turning(Array("GIF89a".utf8), clockwise: true) == nil)
        #expect(JPEGOrientation.turning([], clockwise: true) == nil)
        let file = try file(6)
        for count in 0..<60 {
            let edit = JPEGOrientation.turning(Array(file[..<count]), clockwise: true)
            if let edit { #expect(edit.range.upperBound <= count) }
        }
    }

    @Test("in a folder can be undone to the same bytes") func undo() throws {
        let folder = try TemporaryFolder()
        var editor = FolderEditor(trashFolder: folder.path("trash"))
        for (name, orientation) in [("a.jpg", UInt8(3)), ("b.jpg", nil)] {
            let path = folder.path(name)
            let file = try file(orientation)
            try Data(file).write(to: URL(filePath: path))
            try editor.turn(path, clockwise: true)
            #expect(try Data(contentsOf: URL(filePath: path)) != Data(file))
            #expect(try editor.undo() == [path])
            #expect(try Data(contentsOf: URL(filePath: path)) == Data(file))
        }
        try Data("P1 1 1 0".utf8).write(to: URL(filePath: folder.path("c.pbm")))
        #expect(throws: FileFailure.self) { try editor.turn(folder.path("c.pbm"), clockwise: true) }
    }

    @Test("keeps the permissions of the file, and links to it") func permissions() throws {
        let folder = try TemporaryFolder()
        let manager = FileManager.default
        var editor = FolderEditor(trashFolder: folder.path("trash"))
        let path = folder.path("a.jpg")
        let original = try file(6)
        try Data(original).write(to: URL(filePath: path))
        try manager.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
        let link = folder.path("link.jpg")
        try manager.createSymbolicLink(atPath: link, withDestinationPath: path)
        try editor.turn(link, clockwise: false)
        func mode() throws -> Int? {
            try manager.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        #expect(try mode() == 0o640)
        #expect(try manager.destinationOfSymbolicLink(atPath: link) == path)
        let turned = try Data(turned(original, clockwise: false))
        #expect(try Data(contentsOf: URL(filePath: path)) == turned)
        _ = try editor.undo()
        #expect(try mode() == 0o640)
        #expect(try Data(contentsOf: URL(filePath: path)) == Data(original))
    }
}
