// SPDX-License-Identifier: Apache-2.0

import Drawing
import EncodedImages
import Foundation
import HTTPTypes
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@testable import ImageServer
@testable import PhotoLibrary

@Suite("The OpenAPI description") struct DescriptionTests {
    private typealias Object = [String: Any]

    let gallery: TestGallery
    private let libraryFolder: TemporaryFolder
    private let assetFolder: TemporaryFolder
    private let document: Object

    init() async throws {
        let text = ##"{"size": [8, 8], "background": "#fff", "layers": []}"##
        let cards = CardTemplates(
            directory: "/none",
            entries: ["1": .init(text: text, template: try Template(parsing: text))])
        libraryFolder = try TemporaryFolder()
        assetFolder = try TemporaryFolder()
        let assets = try servedCatalog(in: assetFolder.path, name: "1", [("", 1, 10)])
        gallery = try TestGallery(codecs: sandboxCodecs(loading: [])) { [libraryFolder] in
            $0.libraryDirectory = libraryFolder.path
            $0.cards = cards
            $0.assets = assets
            $0.imgproxy = ImgproxyKeys()
            $0.metrics = PrometheusMetrics()
            $0.purgeTokens = ["secret"]
        }
        for path in ["1.png", "house/1.png"] {
            try gallery.image(path, PixelSize(width: 400, height: 300))
        }
        document = try await gallery.get("/-/openapi.json").json()
    }

    @Test("is OpenAPI 3.1 and needs no signature") func document() async throws {
        #expect(document["openapi"] as? String == "3.1.0")
        let signed = try TestGallery { $0.signatureKeys = [Array(repeating: 7, count: 32)] }
        let answer = try await signed.get("/-/openapi.json")
        #expect(answer.status == 200)
        #expect(answer.headers[.contentType] == "application/json")
        let tag = try #require(answer.headers[.eTag])
        #expect(try await signed.get("/-/openapi.json", [.ifNoneMatch: tag]).status == 304)
    }

    @Test("has only resolvable references and unique operation names") func whole() throws {
        var names: [String] = []
        try visit(document) { object in
            if let reference = object["$ref"] as? String { _ = try resolved(reference) }
            if let name = object["operationId"] as? String { names.append(name) }
        }
        #expect(names.count > 20)
        #expect(Set(names).count == names.count)
    }

    @Test("lists every route with the status of an example") func examples() async throws {
        let server = gallery.server
        let parts = try server.parts()
        let handler = server.requestHandler(parts)
        let library = try #require(parts.library)
        let indexing = Task { await library.run() }
        defer { indexing.cancel() }
        library.start()
        // Covers need images that have been read.
        await eventually { library.status.isComplete && library.status.readCount == 2 }
        let paths = try #require(document["paths"] as? [String: Object])
        for (path, operations) in paths {
            for (method, value) in operations {
                let operation = try #require(value as? Object)
                let address = try example(path, operation)
                let kind = try #require(HTTPRequest.Method(method.uppercased()))
                let answer = try await gallery.request(
                    kind, address,
                    [.authorization: "Bearer secret", .contentType: "application/json"],
                    body: try body(operation), to: handler)
                #expect(answer.status < 400, "\(method) \(address): \(answer.text.prefix(200))")
                try check(answer, operation, "\(method) \(address)")
            }
        }
    }

    @Test(
        "lists the methods of each path as Allow does",
        arguments: [
            ("/1.png", "GET, HEAD, DELETE"), ("/house/1.png", "GET, HEAD, DELETE"),
            ("/20x20/1.png", "GET, HEAD"), ("/info/1.png", "GET, HEAD"), ("/", "GET, HEAD"),
            ("/-/openapi.json", "GET, HEAD"), ("/sprite/20x20/", "GET, HEAD, POST"),
            ("/iiif/3/1.png/info.json", "GET, HEAD, OPTIONS"),
            ("/_/w:20/plain/1.png", "GET, HEAD"),
        ])
    func methods(address: String, allowed: String) async throws {
        let answer = try await gallery.request(.put, address)
        #expect(answer.status == 405)
        #expect(answer.headers[.allow] == allowed)
        let removal = try await gallery.request(.delete, address)
        #expect(removal.status == (allowed.contains("DELETE") ? 401 : 405))
        #expect((removal.headers[.wwwAuthenticate] == "Bearer") == (removal.status == 401))
    }

    @Test("lists all formats of placeholders") func placeholder() async throws {
        #expect(try await gallery.get("/placeholder/1.png?format=json").status == 200)
        #expect(try await gallery.get("/placeholder/1.png?format=xml").status == 400)
    }

    /// The example of a body; an array of names by default.
    private func body(_ operation: Object) throws -> [UInt8] {
        let content = (operation["requestBody"] as? Object)?["content"] as? Object
        let example = (content?["application/json"] as? Object)?["example"] ?? ["1.jpg"]
        let text = String(
            decoding: try JSONSerialization.data(withJSONObject: example), as: UTF8.self)
        return Array(text.replacing("1.jpg", with: "1.png").utf8)
    }

    /// Fills in the examples of the description.
    private func example(_ path: String, _ operation: Object) throws -> String {
        var path = path
        for value in operation["parameters"] as? [Object] ?? [] {
            let reference = value["$ref"] as? String
            let parameter = try reference.map(resolved) ?? value
            guard parameter["in"] as? String == "path",
                let name = parameter["name"] as? String
            else { continue }
            let schema = parameter["schema"] as? Object
            let known = ["version": "3", "file": "main.js", "identifier": "house%2F1.png"]
            let words = parameter["example"] ?? (schema?["enum"] as? [Any])?.first
            var text = known[name] ?? words.map { "\($0)" } ?? "1"
            text = text.replacing("1.jpg", with: "1.png")
            path = path.replacing("{\(name)}", with: text)
        }
        return path
    }

    private func check(_ answer: Answer, _ operation: Object, _ name: String) throws {
        let answers = try #require(operation["responses"] as? [String: Object])
        var response = try #require(answers["\(answer.status)"], "\(name): \(answer.status)")
        if let reference = response["$ref"] as? String { response = try resolved(reference) }
        for (field, value) in response["headers"] as? [String: Object] ?? [:] {
            let header = try (value["$ref"] as? String).map(resolved) ?? value
            guard header["required"] as? Bool == true else { continue }
            #expect(answer.headers[named: field] != nil, "\(name): \(field)")
        }
        guard let content = response["content"] as? Object, let type = answer.headers[.contentType]
        else { return }
        let plain = String(type.prefix { $0 != ";" })
        let family = plain.prefix { $0 != "/" } + "/*"
        #expect(content[plain] != nil || content[String(family)] != nil, "\(name): \(type)")
    }

    private func resolved(_ reference: String) throws -> Object {
        var object = document
        for name in reference.split(separator: "/").dropFirst() {
            object = try #require(object[String(name)] as? Object, "\(reference)")
        }
        return object
    }

    private func visit(_ value: Any, _ body: (Object) throws -> Void) rethrows {
        if let object = value as? Object {
            try body(object)
            for value in object.values { try visit(value, body) }
        }
        for value in value as? [Any] ?? [] { try visit(value, body) }
    }
}
