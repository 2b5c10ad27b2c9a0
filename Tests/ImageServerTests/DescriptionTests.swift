// SPDX-License-Identifier: Apache-2.0

import Drawing
import EncodedImages
import Foundation
import HTTPTypes
import ImageCodecs
import ImageTesting
import MessageDigests
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
        let order = try await gallery.request(
            .post, "/-/download", [.contentType: "application/json"],
            body: Array(#"{"images": ["1.png"]}"#.utf8), to: handler)
        let archive = try #require(try order.json()["url"] as? String).split(separator: "/").last
        let known = [
            "version": "3", "file": "main.js", "identifier": "house%2F1.png",
            "archive": String(try #require(archive)),
        ]
        let paths = try #require(document["paths"] as? [String: Object])
        for (path, operations) in paths {
            for (method, value) in operations {
                let operation = try #require(value as? Object)
                // The test of the server with a password requests these.
                guard operation["tags"] as? [String] != ["access"] else { continue }
                let address = try example(path, operation, known)
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

    @Test("lists the routes of logins and links, with their errors") func access() async throws {
        let links = try TemporaryFolder()
        let hash = try #require(PasswordHash(hashing: "secret"))
        let access = AccessControl(
            password: hash, userHeader: nil, secret: [UInt8](repeating: 7, count: 32))
        let guarded = try TestGallery {
            $0.access = access
            $0.linkDirectory = links.path
        }
        try guarded.image("house/1.png")
        let handler = try guarded.server.requestHandler()
        let paths = try #require(document["paths"] as? [String: Object])
        var requested: Set<String> = []

        func send(
            _ method: HTTPRequest.Method, _ path: String, _ status: Int, link: String = "",
            body: String = "", _ headers: HTTPFields = [:]
        ) async throws -> Answer {
            let operation = try #require(paths[path]?[method.rawValue.lowercased()] as? Object)
            requested.insert(try #require(operation["operationId"] as? String))
            let answer = try await guarded.request(
                method, path.replacing("{link}", with: link), headers, body: Array(body.utf8),
                to: handler)
            #expect(answer.status == status, "\(method) \(path): \(answer.text)")
            try check(answer, operation, "\(method) \(path)")
            return answer
        }

        _ = try await send(.get, "/-/login", 200)
        _ = try await send(.post, "/-/login", 400)
        _ = try await send(.post, "/-/login", 403, body: "password=wrong")
        let login = try await send(.post, "/-/login", 303, body: "password=secret")
        let setCookie = try #require(login.headers[.setCookie])
        let cookie = String(setCookie.prefix { $0 != ";" })
        let user: HTTPFields = [.cookie: cookie, .contentType: "application/json"]

        let order = #"{"folder": "house", "days": 7}"#
        _ = try await send(.post, "/-/share", 401, body: order)
        _ = try await send(.post, "/-/share", 403, body: order, [.cookie: cookie])
        _ = try await send(.post, "/-/share", 400, body: "{}", user)
        let place = try await send(.post, "/-/share", 200, body: order, user).json()["url"]
        let token = try #require(place as? String).dropFirst("/-/share/".count)
        _ = try await send(.get, "/-/share", 401)
        let listed = try await send(.get, "/-/share", 200, user).json()["links"] as? [Object]
        let id = try #require(listed?.first?["id"] as? String)
        _ = try await send(.get, "/-/share/{link}", 303, link: String(token))
        _ = try await send(.delete, "/-/share/{link}", 401, link: id)
        _ = try await send(.delete, "/-/share/{link}", 204, link: id, user)
        _ = try await send(.delete, "/-/share/{link}", 404, link: id, user)
        _ = try await send(.get, "/-/share/{link}", 410, link: String(token))
        _ = try await send(.post, "/-/logout", 303)

        let described = paths.values.flatMap(\.values).compactMap { $0 as? Object }
            .filter { $0["tags"] as? [String] == ["access"] }
        #expect(requested == Set(described.compactMap { $0["operationId"] as? String }))
    }

    @Test(
        "lists the methods of each path as Allow does",
        arguments: [
            ("/1.png", "GET, HEAD, DELETE"), ("/house/1.png", "GET, HEAD, DELETE"),
            ("/20x20/1.png", "GET, HEAD"), ("/info/1.png", "GET, HEAD"), ("/", "GET, HEAD"),
            ("/-/openapi.json", "GET, HEAD"), ("/sprite/20x20/", "GET, HEAD, POST"),
            ("/iiif/3/1.png/info.json", "GET, HEAD, OPTIONS"),
            ("/_/w:20/plain/1.png", "GET, HEAD"), ("/-/download", "POST"),
            ("/-/download/1.zip", "GET, HEAD"),
        ])
    func methods(address: String, allowed: String) async throws {
        let answer = try await gallery.request(.put, address)
        #expect(answer.status == 405)
        #expect(answer.headers[.allow] == allowed)
        let isRead = allowed.contains("GET")
        #expect((try await gallery.get(address).status == 405) == !isRead)
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

    /// Fills in values by name, and the examples of the description.
    private func example(
        _ path: String, _ operation: Object, _ known: [String: String]
    ) throws -> String {
        var path = path
        for value in operation["parameters"] as? [Object] ?? [] {
            let reference = value["$ref"] as? String
            let parameter = try reference.map(resolved) ?? value
            guard parameter["in"] as? String == "path",
                let name = parameter["name"] as? String
            else { continue }
            let schema = parameter["schema"] as? Object
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
