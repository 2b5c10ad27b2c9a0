// SPDX-License-Identifier: Apache-2.0

import HTTPCaching
import HTTPLoading
import HTTPTesting
import HTTPTypes
import ImageLoading
import ImageTesting

@testable import ImageServer

/// A gallery whose originals come over the network from a local server that the test controls.
struct LiveOrigin: Sendable {
    let server: ScriptedServer
    let gallery: TestGallery
    /// The clock of the server, also for dates.
    let clock: FakeClock

    static func with(
        changingLoader changeLoader: (inout HTTPLoader.Configuration) -> Void = { _ in },
        changingPipeline changePipeline: (inout ImagePipeline.Configuration) -> Void = { _ in },
        _ handler: @escaping @Sendable (String, Int) -> ScriptedServer.Answer?,
        _ body: (LiveOrigin) async throws -> Void
    ) async throws {
        let server = try await ScriptedServer(handler)
        // The loader's timeouts are under test.
        let transport = AsyncHTTPTransport(readTimeout: .seconds(600))
        do {
            let clock = FakeClock()
            let host = String(server.address.dropFirst("http://".count))
            let gallery = try TestGallery(
                keepsRenditions: true, web: transport, clock: clock,
                changing: {
                    $0.imgproxy = ImgproxyKeys()
                    $0.webSources = WebSources(hosts: [host], schemes: [.http])
                }, changingPipeline: changePipeline, changingLoader: changeLoader)
            try gallery.image("good.png")
            try await body(LiveOrigin(server: server, gallery: gallery, clock: clock))
        } catch {
            await transport.close()
            throw error
        }
        await transport.close()
        try await server.close()
    }

    func get(_ path: String = "/a.png", _ headers: HTTPFields = [:]) async throws -> Answer {
        try await gallery.get("/_/w:20/plain/\(server.address)\(path)@png", headers)
    }

    /// A valid image.
    static func image(_ width: Int = 40, _ height: Int = 30) -> [UInt8] {
        PNGFile(width: width, height: height, colorType: 2, bitDepth: 8).bytes()
    }
}

extension ScriptedServer.Answer {
    /// A complete, valid response.
    init(image: [UInt8], _ fields: [String] = []) {
        self.init(
            ["Content-Type: image/png", "Content-Length: \(image.count)"] + fields, image)
    }

    init(
        status: String = "200 OK", _ fields: [String], _ body: [UInt8] = [],
        _ end: ScriptedServer.End = .stays
    ) {
        let head = ["HTTP/1.1 \(status)"] + fields + ["", ""]
        self.init(Array(head.joined(separator: "\r\n").utf8) + body, end)
    }
}
