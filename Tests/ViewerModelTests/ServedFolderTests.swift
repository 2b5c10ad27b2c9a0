// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import HTTPCaching
import HTTPTypes
import ImageCommands
import ImageLoading
import LoadingTesting
import Pixels
import Testing
import ViewerModel

@Suite("A folder on a server in the viewer") struct ServedFolderTests {
    private let url: HTTPURL

    init() throws { url = try HTTPURL("https://example.com/house/trip/") }

    private static func page(
        _ names: [String], next: Int? = nil, width: Int = 4000, ladder: [Int] = [256, 512, 1024]
    ) throws -> [UInt8] {
        let images: [String: Any] = [
            "name": names, "width": names.map { _ in width }, "height": names.map { _ in 3000 },
            "modified": names.map { _ in 1 }, "version": names.map { "\($0) 1" },
            "error": [String: String](), "placeholder": ["0": "3OcRJYB4d3h/iIeHeEh3eIhw+j3A"],
        ]
        let page: [String: Any] = [
            "folder": "house/trip", "ladder": ladder, "total": names.count, "offset": 0,
            "next": next.map { $0 as Any } ?? NSNull(), "revision": "1", "pictures": images,
        ]
        return Array(try JSONSerialization.data(withJSONObject: page))
    }

    private func folder(_ answers: FakeAnswer...) -> (ServedFolder, FakeTransport) {
        let transport = FakeTransport { request, _ in
            let offset = request.path?.contains("offset=0&") == true ? 0 : 1
            return offset < answers.count ? answers[offset] : FakeAnswer(status: 500)
        }
        return (ServedFolder(url, transport: transport), transport)
    }

    private func names(_ folder: ServedFolder) async throws -> [String] {
        var all: [String] = []
        for try await names in folder.names() { all += names }
        return all
    }

    @Test("is listed page by page") func pages() async throws {
        let (folder, transport) = folder(
            FakeAnswer(body: try Self.page(["1.jpg", "ü 2.jpg"], next: 2)),
            FakeAnswer(body: try Self.page(["3.jpg"])))
        #expect(try await names(folder) == ["1.jpg", "ü 2.jpg", "3.jpg"])
        #expect(
            transport.requests.map(\.path) == [
                "/-/listing/house/trip/?offset=0&limit=5000",
                "/-/listing/house/trip/?offset=2&limit=5000",
            ])
        #expect(folder.pixelSize(of: "ü 2.jpg") == PixelSize(width: 4000, height: 3000))
        #expect(folder.placeholder(of: "1.jpg") != nil)
        #expect(folder.placeholder(of: "ü 2.jpg") == nil)
    }

    @Test("has renditions of the server that fill a box, else originals") func sizes() async throws
    {
        let (folder, _) = folder(FakeAnswer(body: try Self.page(["ü 2.jpg"])))
        // Before the list is known, as for the image that is opened first.
        #expect(
            folder.source(of: "a.jpg", filling: 192, isStill: true).name
                == "https://example.com/house/trip/256x256,still/a.jpg")
        _ = try await names(folder)
        let (place, version) = ("https://example.com/house/trip", "?v=%C3%BC%202.jpg%201")
        for (side, isStill, expected) in [
            (192, true, "256x256,still/"), (256, true, "256x256,still/"),
            (257, true, "512x512,still/"), (1000, false, "1024x1024/"), (2000, false, ""),
        ] {
            #expect(
                folder.source(of: "ü 2.jpg", filling: side, isStill: isStill).name
                    == "\(place)/\(expected)%C3%BC%202.jpg\(version)")
        }
        #expect(folder.original(of: "ü 2.jpg").name == "\(place)/%C3%BC%202.jpg\(version)")
        #expect(try folder.bytes(of: "ü 2.jpg", .init()) == nil)
    }

    @Test("has the originals of images that are smaller than a rendition") func small() async throws
    {
        let (folder, _) = folder(FakeAnswer(body: try Self.page(["a.jpg"], width: 30)))
        _ = try await names(folder)
        #expect(
            folder.source(of: "a.jpg", filling: 3000, isStill: true).name
                == "https://example.com/house/trip/a.jpg?v=a.jpg%201")
    }

    @Test("has no name that is not one of a file") func hostileNames() async throws {
        let (folder, _) = folder(
            FakeAnswer(
                body: try Self.page(
                    [
                        "../a.jpg", "..", ".", "", "/etc/a.jpg", "a\0.jpg", "..%2Fa.jpg",
                        "good.jpg",
                    ],
                    ladder: [-1, 0, 256])))
        #expect(try await names(folder) == ["..%2Fa.jpg", "good.jpg"])
        #expect(
            folder.original(of: "..%2Fa.jpg").name
                == "https://example.com/house/trip/..%252Fa.jpg?v=..%252Fa.jpg%201")
        #expect(
            folder.source(of: "good.jpg", filling: 10, isStill: false).name
                .hasPrefix("https://example.com/house/trip/256x256/"))
    }

    @Test(
        "says why it cannot be listed",
        arguments: [
            (FakeAnswer(status: 404), "the server has no such folder"),
            (FakeAnswer(status: 403), "the server requires a password or a signature"),
            (FakeAnswer(status: 503), "the server answered 503"),
            (FakeAnswer(body: Array("<html>".utf8)), "no folder of a Calotype server"),
            (FakeAnswer(isUnreachable: true), "refused"),
        ])
    func errors(answer: FakeAnswer, reason: String) async throws {
        try await expectFailure(answer, reason)
    }

    // Not an argument of a test: each byte would be described.
    @Test("says that a page is too long") func longPage() async throws {
        try await expectFailure(
            FakeAnswer(body: Array(repeating: 32, count: 17 << 20), pieceByteCount: 1 << 20),
            "a page has more than 16777216 bytes")
    }

    private func expectFailure(_ answer: FakeAnswer, _ reason: String) async throws {
        let (folder, _) = folder(answer)
        let error = await #expect(throws: FileFailure.self) { try await names(folder) }
        #expect(error == FileFailure("https://example.com/house/trip/", reason))
    }

    @Test("ends for a server that repeats pages") func loops() async throws {
        let (folder, transport) = folder(
            FakeAnswer(body: try Self.page(["1.jpg"], next: 5)),
            FakeAnswer(body: try Self.page(["1.jpg"], next: 5)))
        await #expect(throws: FileFailure.self) { try await names(folder) }
        #expect(transport.requests.count == 2)
    }

    @Test(
        "is opened by a URL of the folder, an image or the gallery page",
        arguments: [
            ("https://Example.com", "https://example.com", nil),
            ("http://host:8080/house/trip/", "http://host:8080/house/trip", nil),
            ("http://host/house/gr%C3%BCn", "http://host/house/gr%C3%BCn", nil),
            ("http://host/house/%C3%BC%202.jpg?v=1", "http://host/house", "ü 2.jpg"),
            ("http://host/#/house/trip/", "http://host/house/trip", nil),
            ("http://host/#/house/1.jpg", "http://host/house", "1.jpg"),
            ("http://host/?a=b#/", "http://host", nil),
        ] as [(String, String, String?)])
    func urls(argument: String, folder: String, file: String?) throws {
        let path = try OpenedPath(argument)
        #expect(path.kind == .server)
        #expect(path.folder == folder)
        #expect(path.file == file)
        // Another process receives it.
        #expect(try OpenedPath(path.uri) == path)
    }

    @Test(
        "is not opened by other URLs",
        arguments: [
            "http://", "https://user@host/", "http://host/..%2Fa.jpg", "http://host/%FF.jpg",
        ])
    func invalid(argument: String) {
        #expect(throws: FileFailure.self) { try OpenedPath(argument) }
    }
}
