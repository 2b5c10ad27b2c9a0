// SPDX-License-Identifier: Apache-2.0

import Archives
import EncodedImages
import Foundation
import ImageTesting
import Testing

@Suite("A ZIP archive") struct ZIPReaderTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("a.zip")
    }

    private func open(
        _ file: [UInt8], limits: DecodeLimits = DecodeLimits()
    ) throws -> ZIPReader {
        try Data(file).write(to: URL(filePath: path))
        return try ZIPReader(path, limits: limits)
    }

    private func contents(_ file: ZIPFile, limits: DecodeLimits = DecodeLimits()) throws -> [UInt8]
    {
        let reader = try open(file.bytes, limits: limits)
        return try reader.contents(of: #require(reader.entries.first))
    }

    private let text = Array("a photograph".utf8)

    /// Python's module writes and this one reads.
    @Test("contains what an independent writer stored and deflated", arguments: [false, true])
    func independent(isStreamed: Bool) throws {
        let script = """
            import sys, zipfile
            class Pipe:
                def __init__(self, file): self.file = file
                def write(self, data): return self.file.write(data)
                def flush(self): self.file.flush()
            with open(sys.argv[1], "wb") as file:
                # Without seeking, sizes and checksums follow the contents.
                target = Pipe(file) if sys.argv[2] == "1" else file
                with zipfile.ZipFile(target, "w") as archive:
                    archive.comment = b"a comment"
                    archive.writestr("empty.jpg", b"")
                    archive.writestr("folder/", b"")
                    archive.writestr("folder/gr\\u00fcn.jpg", bytes(range(256)) * 1000,
                                     compress_type=zipfile.ZIP_DEFLATED)
                    archive.writestr("stored.jpg", b"stored")
                    with archive.open("large.jpg", "w", force_zip64=True) as entry:
                        entry.write(b"large")
            """
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-c", script, path, isStreamed ? "1" : "0"]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        #expect(ZIPReader.isArchive(path))
        let reader = try ZIPReader(path)
        let names = reader.entries.map(\.name)
        #expect(names == ["empty.jpg", "folder/grün.jpg", "stored.jpg", "large.jpg"])
        let expected = [
            [], Array(repeatElement(Array(0...255), count: 1000).joined()),
            Array("stored".utf8), Array("large".utf8),
        ]
        for (entry, bytes) in zip(reader.entries, expected) {
            #expect(try reader.contents(of: entry) == bytes)
        }
    }

    @Test("is read with the records of ZIP64, and behind a prefix", arguments: [false, true])
    func records(isZIP64: Bool) throws {
        var file = ZIPFile(entries: [.init("a.jpg", text), .init("b.jpg", [1, 2, 3])])
        file.isZIP64 = isZIP64
        file.prefix = Array("#!/bin/sh\n".utf8)
        file.comment = Array("PK\u{5}\u{6} is no record".utf8)
        let reader = try open(file.bytes)
        #expect(reader.entries.map(\.name) == ["a.jpg", "b.jpg"])
        #expect(try reader.contents(of: reader.entries[0]) == text)
        #expect(try reader.contents(of: reader.entries[1]) == [1, 2, 3])
    }

    @Test("has the last of the entries with equal names, and neither folders nor links")
    func names() throws {
        var link = ZIPFile.Entry("link.jpg", text)
        link.mode = 0o120777
        var old = ZIPFile.Entry("", [7])
        old.name = [0x81, 0x2E, 0x6A]
        old.flags = 0
        let file = ZIPFile(entries: [
            .init("a.jpg", [1]), .init("./b\\c.jpg", [2]), .init("d/", []), link,
            .init("a.jpg", [3]), old,
        ])
        let reader = try open(file.bytes)
        #expect(reader.entries.map(\.name) == ["b/c.jpg", "a.jpg", "ü.j"])
        #expect(try reader.contents(of: reader.entries[1]) == [3])
    }

    @Test(
        "is refused if a name leads out of it",
        arguments: ["../a.jpg", "a/../../b.jpg", "/etc/a.jpg", "..\\a.jpg", "\\a.jpg", "a\0b.jpg"])
    func escapes(name: String) throws {
        let file = ZIPFile(entries: [.init("good.jpg", text), .init(name, text)])
        let error = #expect(throws: CodecError.self) { try open(file.bytes) }
        guard case .malformed? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("is refused for too many entries, before its directory is read") func entryCount() throws
    {
        var file = ZIPFile(entries: [.init("a.jpg", text)])
        file.isZIP64 = true
        file.entryCount = 1_000_000
        #expect(throws: CodecError.limitExceeded(.itemCount, needed: 1_000_000, allowed: 250_000)) {
            try open(file.bytes)
        }
        file.entryCount = 200_000
        #expect(throws: CodecError.self) { try open(file.bytes) }
    }

    @Test("contains no entry that expands beyond its size or the limits") func bombs() throws {
        var entry = ZIPFile.Entry("a.jpg", [])
        // 259 bytes in one block with fixed codes, by zlib.
        entry.stored = [0x4B, 0x4C, 0x1C, 0xF1, 0x00, 0x00]
        entry.method = 8
        for (byteCount, isRefusedBefore) in [(100, false), (6000, false), (7000, true)] {
            entry.byteCount = byteCount
            let error = #expect(throws: CodecError.self) {
                try contents(ZIPFile(entries: [entry]))
            }
            let isBefore = "\(String(describing: error))".contains("cannot expand")
            #expect(isBefore == isRefusedBefore)
        }
        var limits = DecodeLimits()
        limits.maximumByteCount = 10
        #expect(throws: CodecError.limitExceeded(.byteCount, needed: 12, allowed: 10)) {
            try contents(ZIPFile(entries: [.init("a.jpg", text)]), limits: limits)
        }
    }

    @Test("reports what it does not support") func unsupported() throws {
        var entry = ZIPFile.Entry("a.jpg", text)
        entry.method = 12
        #expect(throws: CodecError.unsupported(feature: "ZIP compression method 12")) {
            try contents(ZIPFile(entries: [entry]))
        }
        entry.method = 0
        entry.flags = 1
        #expect(throws: CodecError.unsupported(feature: "encrypted archives")) {
            try contents(ZIPFile(entries: [entry]))
        }
    }

    @Test("never has the bytes of another name") func otherNames() throws {
        var entry = ZIPFile.Entry("a.jpg", text)
        entry.localName = Array("b.jpg".utf8)
        #expect(throws: CodecError.self) { try contents(ZIPFile(entries: [entry])) }
        entry.localName = nil
        entry.checksum ^= 1
        #expect(throws: CodecError.self) { try contents(ZIPFile(entries: [entry])) }
    }

    @Test("is not read after it has changed") func changed() throws {
        let reader = try open(ZIPFile(entries: [.init("a.jpg", text)]).bytes)
        let entry = try #require(reader.entries.first)
        let handle = try FileHandle(forWritingTo: URL(filePath: path))
        try handle.truncate(atOffset: 20)
        try handle.close()
        #expect(throws: CodecError.fileChanged) { try reader.contents(of: entry) }
    }

    @Test("throws an error or has its files if it is cut or damaged anywhere") func damage() throws
    {
        for isZIP64 in [false, true] {
            var file = ZIPFile(entries: [.init("a.jpg", text), .init("b.jpg", [1, 2, 3])])
            file.isZIP64 = isZIP64
            let bytes = file.bytes
            for length in 0..<bytes.count {
                #expect(throws: CodecError.self) { try open(Array(bytes[..<length])) }
            }
            for index in bytes.indices {
                for value in [0, 0xFF] as [UInt8] where bytes[index] != value {
                    var damaged = bytes
                    damaged[index] = value
                    // A reader that traps would end the process.
                    guard let reader = try? open(damaged) else { continue }
                    for entry in reader.entries {
                        guard let contents = try? reader.contents(of: entry) else { continue }
                        #expect(contents == text || contents == [1, 2, 3] || contents.isEmpty)
                    }
                }
            }
        }
    }

    @Test("is recognized by its first bytes") func signatures() throws {
        for (bytes, expected) in [
            (ZIPFile(entries: [.init("a.jpg", text)]).bytes, true), (ZIPFile().bytes, true),
            (Array("PK".utf8), false), ([], false), (Array("\u{89}PNG and more".utf8), false),
        ] {
            try Data(bytes).write(to: URL(filePath: path))
            #expect(ZIPReader.isArchive(path) == expected)
        }
        let text = Array("no archive, though long enough".utf8)
        #expect(throws: CodecError.unknownFormat) { try open(text) }
    }
}
