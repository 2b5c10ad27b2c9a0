// SPDX-License-Identifier: Apache-2.0

import CoreMetrics
import EncodedImages
import Foundation
import HTTPTypes
import HummingbirdCore
import ImageLoading
import NIOCore
import Pixels
import Testing

@testable import ImageServer

@Suite("Access control") struct AccessTests {
    private static let key = Array("a key of at least thirty-two bytes".utf8)
    private static let otherKey = Array("another key of thirty-two bytes, old".utf8)

    private func signedGallery() throws -> TestGallery {
        let gallery = try TestGallery { $0.signatureKeys = [Self.key, Self.otherKey] }
        try gallery.image("house/1.png", PixelSize(width: 40, height: 30))
        return gallery
    }

    @Test("HMAC-SHA-256 matches the test vectors of RFC 4231") func vector() throws {
        // Test case 2 of RFC 4231 in hexadecimal.
        let signed = PathSignature.signed(
            "what do ya want for nothing?", key: Array("Jefe".utf8))
        let code = try #require(
            PathSignature.bytes(signed.split(separator: "=", maxSplits: 1)[1]))
        #expect(
            code.map { String($0, radix: 16) }.joined().hasPrefix("5bdcc146bf60754e6a42426895"))
    }

    @Test("Accepts signatures by any key until the URL expires")
    func signed() async throws {
        let gallery = try signedGallery()
        for key in [Self.key, Self.otherKey] {
            let address = PathSignature.signed("/house/20x20/1.png", key: key)
            #expect(try await gallery.get(address).status == 200)
        }
        let later = HTTPDate.now.seconds + 1_000
        let valid = PathSignature.signed("/house/1.png?expires=\(later)", key: Self.key)
        #expect(try await gallery.get(valid).status == 200)
        let past = PathSignature.signed("/house/1.png?expires=1000", key: Self.key)
        #expect(try await gallery.get(past).status == 410)
        #expect(try await gallery.get("/healthz").status == 200)
    }

    @Test("A signed URL expires at the specified second") func end() throws {
        let signature = PathSignature(keys: [Self.key])
        let address = PathSignature.signed("/house/1.png?expires=1000", key: Self.key)
        try signature.check(address, now: 999)
        #expect(throws: ServerError.expired) { try signature.check(address, now: 1000) }
    }

    @Test("Rejects missing and invalid signatures") func unsigned() async throws {
        let gallery = try signedGallery()
        let right = PathSignature.signed("/house/20x20/1.png", key: Self.key)
        let code = right.split(separator: "=")[1]
        let wrong = [
            "/house/20x20/1.png", "/house/1.png", "/", "/-/listing/",
            "/iiif/3/house%2F1.png/info.json",
            "/house/20x20/1.png?signature=", "/house/20x20/1.png?signature=AAAA",
            "/house/20x20/1.png?signature=\(code.dropLast())",
            "/house/20x20/1.png?signature=\(code)=", "/house/20x20/1.png?signature=\(code)A",
            // Another path, another encoding of the same path, and an additional parameter.
            "/house/40x40/1.png?signature=\(code)", "/house/20x20/%31.png?signature=\(code)",
            "/house/20x20/1.png?v=1&signature=\(code)", "\(right)&v=1",
            "/house/20x20/1.png?expires=99999999999&signature=\(code)",
            PathSignature.signed("/house/20x20/1.png", key: Array("wrong".utf8)),
            PathSignature.signed(
                "/house/1.png?expires=99999999999&expires=1", key: Self.key),
            PathSignature.signed("/house/1.png?expires=soon", key: Self.key),
        ]
        for address in wrong {
            #expect(try await gallery.get(address).status == 403, "\(address)")
        }
    }

    @Test(
        "Parses imgproxy paths",
        arguments: [
            ("/_/rs:fill:20:20/plain/house/1.png@png", 20, 20),
            ("/_/rs:fit:20:20/plain/local:///house/1.png", 20, 15),
            ("/_/resize:force:10:30:0:0/plain/house%2F1.png", 10, 30),
            ("/_/w:20/plain/house/1.png", 20, 15), ("/_/h:15/f:webp/plain/house/1.png", 20, 15),
            ("/_/s:80:60:1/plain/house/1.png", 80, 60), ("/_/s:80:60/plain/house/1.png", 40, 30),
            ("/_/w:10/dpr:2/plain/house/1.png", 20, 15),
            ("/_/rot:90/w:15/plain/house/1.png", 15, 20),
            ("/_/rs:fill:10:10/g:noea/q:50/bl:1/mc:1/plain/house/1.png", 10, 10),
            ("/_/cb:7/sm:1/plain/house/1.png", 40, 30), ("/_/el:1/plain/house/1.png", 40, 30),
            ("/_/pr:small/plain/house/1.png", 8, 6),
        ])
    func imgproxy(address: String, width: Int, height: Int) async throws {
        let gallery = try TestGallery {
            $0.imgproxy = ImgproxyKeys()
            $0.presets = ["small": "8x8"]
        }
        try gallery.image("house/1.png", PixelSize(width: 40, height: 30))
        let answer = try await gallery.get(address)
        #expect(answer.status == 200, "\(answer.text)")
        #expect(try answer.pixelSize() == PixelSize(width: width, height: height))
    }

    @Test("Accepts Base64 sources, with signatures as imgproxy computes them") func base64()
        async throws
    {
        // The example in imgproxy's documentation: key "secret", salt "hello".
        let gallery = try TestGallery {
            $0.imgproxy = ImgproxyKeys(keys: [Array("secret".utf8)], salt: Array("hello".utf8))
        }
        try gallery.image("house/1.png", PixelSize(width: 40, height: 30))
        let signature = PathSignature(keys: [Array("secret".utf8)])
        try signature.check(
            "oKfUtW34Dvo2BGQehJFR4Nr0_rIjOtdtzJ3QFsUcXH8",
            of:
                "/rs:fill:300:400:0/g:sm/aHR0cDovL2V4YW1w/bGUuY29tL2ltYWdl/cy9jdXJpb3NpdHku/anBn.png",
            salt: Array("hello".utf8))
        let source = PathSignature.text(Array("house/1.png".utf8))
        let path = "/rs:fit:20:20/\(source).png"
        let code = PathSignature.signed("hello\(path)", key: Array("secret".utf8))
            .split(separator: "=")[1]
        let answer = try await gallery.get("/\(code)\(path)")
        #expect(answer.status == 200, "\(answer.text)")
        #expect(try answer.pixelSize().width == 20)
        #expect(try await gallery.get("/unsafe\(path)").status == 403)
    }

    @Test(
        "Rejects unknown imgproxy options and sources by name",
        arguments: [
            ("/_/wmu:aHR0cA/plain/house/1.png", 400, "wmu"),
            ("/_/rs:auto:1:1/plain/house/1.png", 400, "rs:auto"),
            ("/_/aq:dssim:0.02/plain/house/1.png", 400, "aq:dssim"),
            ("/_/aq:ssim:1/plain/house/1.png", 400, "aq:ssim"),
            ("/_/w:99999/plain/house/1.png", 400, "w:99999"),
            ("/_/w:-1/plain/house/1.png", 400, "w:-1"),
            ("/_/g:obj/plain/house/1.png", 400, "g:obj"),
            ("/_/w:10/plain/house/1.png@exe", 400, "exe"), ("/_/w:10/plain/", 400, "source"),
            ("/_/pr:none/plain/house/1.png", 400, "none"), ("/_/exp:1/plain/house/1.png", 410, ""),
            ("/_/w:10/plain/http://127.0.0.1/1.png", 403, ""),
            ("/_/w:10/plain/file:///etc/passwd", 403, ""),
            ("/_/w:10/plain/local:///../secret.png", 404, ""),
            ("/_/w:10/plain/..%2Fsecret.png", 404, ""),
            ("/_/w:10/plain/data:image%2Fpng,", 403, ""),
        ])
    func refused(address: String, status: Int, name: String) async throws {
        let gallery = try TestGallery { $0.imgproxy = ImgproxyKeys() }
        try gallery.image("house/1.png", PixelSize(width: 40, height: 30))
        let answer = try await gallery.get(address)
        #expect(answer.status == status, "\(answer.text)")
        #expect(name.isEmpty || answer.text.contains(name))
    }

    @Test("With signature keys, all path grammars require a signature") func everyForm()
        async throws
    {
        let gallery = try TestGallery {
            $0.signatureKeys = [Self.key]
            $0.imgproxy = ImgproxyKeys()
        }
        try gallery.image("house/1.png", PixelSize(width: 40, height: 30))
        for address in [
            "/_/w:20/plain/house/1.png", "/house/20x20/1.png", "/info/house/1.png",
            "/placeholder/house/1.png", "/sprite/20x20/house", "/tiles/house/1.png.dzi",
            "/iiif/3/house%2F1.png/full/20,/0/default.jpg", "/house/1.png", "/", "/-/listing/",
        ] {
            #expect(try await gallery.get(address).status == 403, "\(address)")
            let signed = PathSignature.signed(address, key: Self.key)
            #expect(try await gallery.get(signed).status == 200, "\(signed)")
        }
    }

    @Test("With allowsPresetsOnly, accepts presets only") func presetsOnly() async throws {
        let gallery = try TestGallery {
            $0.presets = ["thumb": "20x20,fill"]
            $0.allowsPresetsOnly = true
            $0.imgproxy = ImgproxyKeys()
        }
        try gallery.image("house/1.png", PixelSize(width: 40, height: 30))
        let answer = try await gallery.get("/house/thumb/1.png")
        #expect(try answer.pixelSize() == PixelSize(width: 20, height: 20))
        #expect(try await gallery.get("/house/20x20/1.png").status == 403)
        #expect(try await gallery.get("/_/pr:thumb/plain/house/1.png").status == 200)
        #expect(try await gallery.get("/_/w:20/plain/house/1.png").status == 403)
        #expect(try await gallery.get("/sprite/20x20/house").status == 403)
        let exact = try await gallery.get("/iiif/3/house%2F1.png/full/19,/0/default.jpg")
        #expect(exact.status == 403)
    }

    @Test("A token purges all data derived from an image") func purge() async throws {
        let gallery = try TestGallery(keepsRenditions: true) { $0.purgeTokens = ["secret"] }
        try gallery.image("house/1.png", PixelSize(width: 40, height: 30))
        let path = try gallery.identity("house/1.png").path
        for address in ["/house/20x20/1.png", "/house/10x10/1.png"] {
            #expect(try await gallery.get(address).status == 200)
        }
        let store = try #require(gallery.store)
        #expect(store.statistics.entryCount == 2)
        for token in ["", "Bearer ", "Bearer secre", "Bearer secrets", "secret"] {
            let answer = try await gallery.request(
                .delete, "/house/1.png", [.authorization: token])
            #expect(answer.status == 403)
        }
        #expect(store.statistics.entryCount == 2)
        let answer = try await gallery.request(
            .delete, "/house/1.png", [.authorization: "Bearer secret"])
        #expect(answer.status == 204)
        #expect(store.statistics.entryCount == 0)
        #expect(FileManager.default.fileExists(atPath: path))
        #expect(
            try await gallery.request(.delete, "/", [.authorization: "Bearer secret"]).status == 405
        )
    }

    @Test("The rate limit applies to each client separately") func limit() throws {
        let limiter = RateLimiter(rate: 2, burst: 3)
        let start = ContinuousClock.now
        for _ in 0..<3 { try limiter.take("a", now: start) }
        #expect(throws: ServerError.tooManyRequests(seconds: 1)) {
            try limiter.take("a", now: start)
        }
        try limiter.take("b", now: start)
        try limiter.take("a", now: start + .milliseconds(500))
        #expect(throws: ServerError.self) { try limiter.take("a", now: start + .milliseconds(600)) }
        let answer = ErrorResponse(ServerError.tooManyRequests(seconds: 7)).response
        #expect(answer.status == .tooManyRequests)
        #expect(answer.headers[named: "Retry-After"] == "7")
    }

    @Test("Clients are identified by IPv4 address or IPv6 /64 prefix") func clients() throws {
        func name(_ text: String) throws -> String {
            RateLimiter.name(of: try SocketAddress(ipAddress: text, port: 1))
        }
        #expect(try name("2001:db8:1:2::3") == name("2001:db8:1:2:ffff::4"))
        #expect(try name("2001:db8:1:2::3") != name("2001:db8:1:3::3"))
        #expect(try name("192.0.2.1") != name("192.0.2.2"))
        #expect(try name("::ffff:192.0.2.1") != name("::ffff:192.0.2.2"))
        #expect(RateLimiter.name(of: nil) == "")
    }

    @Test("Exports metrics in the text format of Prometheus") func metrics() async throws {
        let metrics = PrometheusMetrics()
        metrics.makeCounter(label: "a.b", dimensions: [("path", "x\"\\\n")]).increment(by: 3)
        metrics.makeTimer(label: "t", dimensions: []).recordNanoseconds(20_000_000)
        let gallery = try TestGallery { $0.metrics = metrics }
        let text = try await gallery.get("/metrics").text
        #expect(text.contains("# TYPE a_b_total counter\na_b_total{path=\"x\\\"\\\\\\n\"} 3\n"))
        #expect(
            text.contains("t_seconds_bucket{le=\"0.01\"} 0\nt_seconds_bucket{le=\"0.025\"} 1\n"))
        #expect(text.contains("t_seconds_sum 0.02\nt_seconds_count 1\n"))
        #expect(try await TestGallery().get("/metrics").status == 404)
    }
}
