// SPDX-License-Identifier: Apache-2.0

import HTTPTesting
import Testing

/// The response of an origin that is not an image, and the expected status of the server.
struct HostileAnswer: Sendable, CustomTestStringConvertible {
    let name: String
    let status: Int
    let answer: ScriptedServer.Answer

    var testDescription: String { name }

    private init(
        _ name: String, _ status: Int, http: String = "200 OK", _ fields: [String],
        _ body: [UInt8] = [], _ end: ScriptedServer.End = .closes
    ) {
        self.name = name
        self.status = status
        answer = .init(status: http, ["Content-Type: image/png"] + fields, body, end)
    }

    /// Bytes that are not HTTP.
    private init(_ name: String, _ status: Int, wire: [UInt8]) {
        self.name = name
        self.status = status
        answer = .init(wire, .closes)
    }

    private static let image = LiveOrigin.image()
    private static let half = Array(image.prefix(image.count / 2))
    /// More than the size limit of originals.
    private static let long = [UInt8](repeating: 0x89, count: 2 << 20)
    private static let chunked = ["Transfer-Encoding: chunked"]
    private static let resumable = ["Accept-Ranges: bytes", "ETag: \"a\""]
    private static let page = Array("<!DOCTYPE html><title>Log in</title>".utf8)
    private static let drawing = Array("<svg xmlns=\"http://www.w3.org/2000/svg\"/>".utf8)
    private static let document = Array("%!PS-Adobe-3.0\n%".utf8)

    static let bodies: [HostileAnswer] = [
        .init("less than it says", 502, ["Content-Length: \(image.count + 1000)"], image),
        .init("a start that can be gone on from", 502, resumable + length(image), half),
        .init("a reset midway", 502, length(image), half, .resets),
        .init("chunks without the last", 502, chunked, chunk(half)),
        .init("a chunk without a length", 502, chunked, Array("x\r\n".utf8)),
        .init("a chunk beyond all numbers", 502, chunked, Array("FFFFFFFFFFFFFFFFFF\r\n".utf8)),
        .init("too much by its length", 422, length(long), image, .stays),
        .init("too much, without length or end", 422, [], long, .stays),
        .init("too much in chunks", 422, chunked, chunk(long), .stays),
        .init("a negative length", 502, ["Content-Length: -1"], image),
        .init("a length in words", 502, ["Content-Length: many"], image),
        .init(
            "a length beyond all numbers", 502, ["Content-Length: 99999999999999999999"], image),
        .init("two lengths", 502, ["Content-Length: 5", "Content-Length: 6"], image),
        .init("a field without end", 502, ["X-A: " + String(repeating: "a", count: 1 << 20)]),
        .init("nothing", 502, wire: []),
        .init("another protocol", 502, wire: Array("SSH-2.0-OpenSSH_9.2\r\n".utf8)),
    ]

    static let heads: [HostileAnswer] = [
        .init("gzip", 502, ["Content-Encoding: gzip"] + length(image), image),
        .init("gzip in gzip", 502, ["Content-Encoding: gzip, gzip"] + length(image), image),
        .init(
            "a range that was not requested", 502, http: "206 Partial Content",
            ["Content-Range: bytes 0-9/10"] + length(image), image),
        .init("no change since never", 502, http: "304 Not Modified", ["ETag: \"a\""]),
        .init("a page", 502, length(page), page),
        .init("no content", 502, http: "204 No Content", []),
        .init("a redirect to nowhere", 502, http: "302 Found", ["Content-Length: 0"]),
        .init(
            "a redirect to another port", 403, http: "302 Found",
            ["Location: http://127.0.0.1:1/", "Content-Length: 0"]),
        .init("no entry", 502, http: "403 Forbidden", ["Content-Length: 0"]),
        .init("gone", 404, http: "410 Gone", ["Content-Length: 0"]),
        .init("a document", 415, length(document), document),
    ]

    private static func length(_ body: [UInt8]) -> [String] { ["Content-Length: \(body.count)"] }

    private static func chunk(_ bytes: [UInt8]) -> [UInt8] {
        Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8)
    }
}
