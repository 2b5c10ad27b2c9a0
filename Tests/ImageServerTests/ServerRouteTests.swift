// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import HTTPTypes
import HummingbirdCore
import ImageLoading
import ImageTesting
import LoadScheduling
import Logging
import Testing

@testable import ImageServer

@Suite("The server") struct ServerRouteTests {
    let gallery: TestGallery

    init() throws { gallery = try TestGallery() }

    @Test("returns the page at / with its content security policy") func page() async throws {
        let answer = try await gallery.get("/")
        #expect(answer.status == 200)
        #expect(answer.headers[.contentType] == "text/html; charset=utf-8")
        #expect(answer.text.lowercased().contains("<!doctype html>"))
        #expect(
            answer.headers[.contentSecurityPolicy]
                == "default-src 'none'; script-src 'self'; style-src 'self'; "
                + "img-src 'self' blob: data:; connect-src 'self'; manifest-src 'self'; "
                + "worker-src 'self'; base-uri 'none'; "
                + "form-action 'none'; frame-ancestors 'none'; "
                + "require-trusted-types-for 'script'; trusted-types calotype-worker")
        let tag = try #require(answer.headers[.eTag])
        #expect(try await gallery.get("/", [.ifNoneMatch: tag]).status == 304)
        #expect(try await gallery.get("/-/gallery/index.html").body == answer.body)
        #expect(try await gallery.get("/-/gallery/missing.js").status == 404)
    }

    @Test("returns every file of the page byte for byte") func files() async throws {
        let folder = SampleFiles.packageDirectory.appending(path: "Sources/ServedFiles/Gallery")
        let files = try FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: nil)
        #expect(!files.isEmpty)
        for file in files {
            let name = file.lastPathComponent
            let answer = try await gallery.get("/-/gallery/\(name)")
            #expect(answer.status == 200, "\(name) needs a line in files.c")
            #expect(answer.body == Array(try Data(contentsOf: file)), "\(name)")
        }
        let script = try await gallery.get("/-/gallery/main.js")
        #expect(script.headers[.contentType] == "text/javascript; charset=utf-8")
        let style = try await gallery.get("/-/gallery/gallery.css")
        #expect(style.headers[.contentType] == "text/css; charset=utf-8")
    }

    @Test("joins the modules of the page, each after those that it imports")
    func script() async throws {
        let script = try await gallery.get("/-/gallery/gallery.js")
        #expect(script.headers[.contentType] == "text/javascript; charset=utf-8")
        var joined: Set<String> = []
        for line in script.text.split(separator: "\n") {
            #expect(!line.hasPrefix("import") && !line.hasPrefix("export"), "\(line)")
            if let module = line.wholeMatch(of: /const (\w+)_js = \(\(\) => \{/) {
                joined.insert(String(module.1))
            } else if let imported = line.wholeMatch(of: /const \{.+\} = (\w+)_js;/) {
                #expect(joined.contains(String(imported.1)), "\(line)")
            }
        }
        let folder = SampleFiles.packageDirectory.appending(path: "Sources/ServedFiles/Gallery")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        let separate = ["service-worker.js", "early-requests.js"]
        let modules = files.filter { $0.hasSuffix(".js") && !separate.contains($0) }
            .map { String($0.dropLast(3)).replacing("-", with: "_") }
        #expect(joined == Set(modules))
        let tag = try #require(script.headers[.eTag])
        let again = try await gallery.get("/-/gallery/gallery.js", [.ifNoneMatch: tag])
        #expect(again.status == 304)
    }

    @Test("reports its health") func health() async throws {
        let answer = try await gallery.get("/healthz")
        #expect(answer.status == 200)
        #expect(answer.text == #"{"status":"ok"}"#)
    }

    @Test("stays healthy when the pipeline is closed") func closedPipeline() async throws {
        try gallery.image("1.png")
        await gallery.pipeline.close()
        #expect(try await gallery.get("/10x10/1.png").status == 503)
        #expect(try await gallery.get("/healthz").status == 200)
    }

    @Test(
        "rejects other methods",
        arguments: [HTTPRequest.Method.post, .put, .delete, .options, .patch, .trace])
    func methods(method: HTTPRequest.Method) async throws {
        for address in ["/", "/healthz", "/missing.png", "/-/listing/"] {
            let answer = try await gallery.request(method, address)
            #expect(answer.status == 405)
            #expect(answer.headers[.allow] == "GET, HEAD")
        }
    }

    @Test("rejects a URL of more than 8 KiB") func longAddress() async throws {
        let limit = RequestAdmission.maximumPathByteCount
        let longest = "/" + String(repeating: "a", count: limit - 1)
        #expect(try await gallery.get(longest).status == 404)
        #expect(try await gallery.get(longest + "a").status == 414)
        #expect(try await gallery.get("/?" + longest).status == 414)
    }

    @Test("does not start without a folder") func noFolder() throws {
        var configuration = gallery.configuration
        configuration.directory += "/missing"
        let server = ImageServer(
            configuration: configuration, pipeline: gallery.pipeline, logger: .init(label: "test"))
        #expect(throws: ServerError.notAFolder(path: configuration.directory)) {
            try server.requestHandler()
        }
    }

    static let failures: [(any Error, Int)] = [
        (LoadError.notFound(path: "/secret"), 404),
        (LoadError.decodingFailed(path: "/secret", .unknownFormat), 415),
        (LoadError.decodingFailed(path: "/secret", .empty), 415),
        (LoadError.decodingFailed(path: "/secret", .malformed(reason: "x", offset: 1)), 422),
        (LoadError.decodingFailed(path: "/secret", .truncated(byteCount: 1)), 422),
        (LoadError.decodingFailed(path: "/secret", .unsupported(feature: "x")), 422),
        (
            LoadError.decodingFailed(
                path: "/secret", .limitExceeded(.side, needed: 2, allowed: 1)), 422
        ),
        (LoadError.decodingFailed(path: "/secret", .cancelled), 503),
        (LoadError.decodingFailed(path: "/secret", .file(reason: "/secret")), 500),
        (LoadError.decodingFailed(path: "/secret", .library(message: "/secret")), 500),
        (LoadError.encodingFailed(path: "/secret", .library(message: "/secret")), 500),
        (LoadError.unreadable(path: "/secret", reason: "/secret"), 500),
        (LoadError.storeFailed(reason: "/secret"), 500),
        (LoadError.addressRefused(url: "/secret", reason: "/secret"), 403),
        (LoadError.connectionFailed(url: "/secret", reason: "/secret"), 502),
        (LoadError.timedOut(url: "/secret"), 504), (LoadError.notKept(url: "/secret"), 504),
        (LoadError.badStatus(url: "/secret", code: 404), 404),
        (LoadError.badStatus(url: "/secret", code: 500), 502),
        (LoadError.badResponse(url: "/secret", reason: "/secret"), 502),
        (LoadError.queueFull, 503), (LoadError.cancelled, 503), (CancellationError(), 503),
        (ServerError.originalChanged, 503), (CocoaLikeError(), 500),
    ]

    private struct CocoaLikeError: Error, CustomStringConvertible {
        let description = "/secret"
    }

    @Test("maps every error to its status, without a file path", arguments: failures.indices)
    func errors(index: Int) async throws {
        let (error, status) = Self.failures[index]
        let answer = ErrorResponse(error)
        #expect(answer.status.code == status)
        #expect(!answer.message.isEmpty && !answer.message.contains("/secret"))
        #expect(answer.response.headers[.cacheControl] == "no-store")
        #expect(answer.response.headers[.retryAfter] == (status == 503 ? "1" : nil))
    }
}
