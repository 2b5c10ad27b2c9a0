// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPCaching
import HTTPTypes
import LoadScheduling
import Synchronization
import Testing

@testable import HTTPLoading

/// Notes what it is sent and answers nothing.
private final class NotingTransport: HTTPTransport {
    private let sent = Mutex<[HTTPRequest]>([])

    var requests: [HTTPRequest] { sent.withLock { $0 } }

    func send(_ request: HTTPRequest) async throws(LoadError) -> HTTPTransportResponse {
        sent.withLock { $0.append(request) }
        throw .cancelled
    }

    func send(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(LoadError) -> HTTPTransportResponse {
        try await send(request)
    }
}

@Suite("A request to an object store") struct S3TransportTests {
    private let noting = NotingTransport()

    private func sent(
        _ url: String, _ fields: HTTPFields = [:], token: String? = nil,
        buckets: Set<String>? = nil
    ) async throws -> HTTPRequest {
        // The example in the documentation of AWS, "Signature Calculations for the Authorization
        // Header", of GET Object.
        let time = try Date("2013-05-24T00:00:00Z", strategy: .iso8601)
        let transport = S3Transport(
            noting, try HTTPURL("https://examplebucket.s3.amazonaws.com"), buckets, "us-east-1",
            .init(
                keyID: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                sessionToken: token)
        ) { time }
        let url = try HTTPURL(url)
        var request = HTTPRequest(
            method: .get, scheme: url.scheme.rawValue, authority: url.authority, path: url.path)
        request.headerFields = fields
        await #expect(throws: LoadError.cancelled) { _ = try await transport.send(request) }
        return try #require(noting.requests.last)
    }

    @Test(
        "is signed like AWS's example and like botocore's requests",
        arguments: [
            (
                "test.txt", ["range": "bytes=0-9"], nil,
                "host;range;x-amz-content-sha256;x-amz-date",
                "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
            ),
            (
                "summer%20%C3%A9/a%2Bb%25%28c%29.png", ["accept": "image/*"], nil,
                "host;x-amz-content-sha256;x-amz-date",
                "aab8208b1fce0478b03cbedb5187fe8b382fffb632a7946d99c3f4940c226d76"
            ),
            (
                "test.txt", [:], "a token",
                "host;x-amz-content-sha256;x-amz-date;x-amz-security-token",
                "0cd0f80630d5420ac8761506622d8454bea75b4c4c7a6618095382f994557e6e"
            ),
        ] as [(String, [String: String], String?, String, String)])
    func signed(
        path: String, fields: [String: String], token: String?, names: String, signature: String
    ) async throws {
        var sentFields: HTTPFields = [:]
        for (name, value) in fields { sentFields[try #require(HTTPField.Name(name))] = value }
        let request = try await sent(
            "https://examplebucket.s3.amazonaws.com/\(path)", sentFields, token: token)
        var seen: [String: String] = [:]
        for field in request.headerFields { seen[field.name.canonicalName] = field.value }
        fields.forEach { #expect(seen.removeValue(forKey: $0) == $1) }
        #expect(
            seen.removeValue(forKey: "authorization")
                == "AWS4-HMAC-SHA256 "
                + "Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
                + "SignedHeaders=\(names), Signature=\(signature)")
        #expect(seen["x-amz-date"] == "20130524T000000Z")
        #expect(seen["x-amz-security-token"] == token)
    }

    /// Signs requests to all buckets, at a fixed time.
    private func transport() throws -> S3Transport {
        let time = try Date("2013-05-24T00:00:00Z", strategy: .iso8601)
        return S3Transport(
            noting, try HTTPURL("https://s3.example.org"), nil, "us-east-1",
            .init(
                keyID: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
        ) { time }
    }

    @Test("with a body is signed like that of botocore 1.44.8") func body() async throws {
        let transport = try transport()
        let size = try #require(HTTPField.Name("x-amz-meta-calotype-size"))
        let request = HTTPRequest(
            method: .put, scheme: "https", authority: "s3.example.org", path: "/results/v8/a/b",
            headerFields: [size: "4x3", .ifNoneMatch: "*"])
        let bytes = Array("A rendition.".utf8)
        await #expect(throws: LoadError.cancelled) {
            _ = try await transport.send(request, body: bytes)
        }
        let sent = try #require(noting.requests.last).headerFields
        #expect(
            sent[.authorization] == "AWS4-HMAC-SHA256 "
                + "Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
                + "SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-meta-calotype-size, "
                + "Signature=08fb7e1899a344740f07b7c93e840644c17cf9e85b8eb0e386e88f3160d0c676")
    }

    @Test("for a list of keys is signed like that of botocore 1.44.8") func query() async throws {
        let transport = try transport()
        let request = HTTPRequest(
            method: .get, scheme: "https", authority: "s3.example.org",
            path: "/results?list-type=2&prefix=renditions%2Fv8%2F0123%2F")
        await #expect(throws: LoadError.cancelled) { _ = try await transport.send(request) }
        let sent = try #require(noting.requests.last)
        #expect(sent.path == request.path)
        #expect(
            sent.headerFields[.authorization] == "AWS4-HMAC-SHA256 "
                + "Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
                + "SignedHeaders=host;x-amz-content-sha256;x-amz-date, "
                + "Signature=45591bffa4629042e8c0279d723b70864aaf9da02c5171e7f4862cf56bb1713d")
    }

    @Test(
        "is signed for the served buckets only",
        arguments: [
            ("photos/a.png", true), ("photos/2024/b%20c.png", true), ("photos/...png", true),
            ("photos/%252e.png", true), ("private/a.png", false), ("photos2/a.png", false),
            ("photos", false), ("photos/", false), ("", false), ("photos/?list-type=2", false),
            ("photos/a.png?versionId=1", false), ("%70hotos/a.png", false),
        ])
    func buckets(path: String, isSigned: Bool) async throws {
        let request = try await sent(
            "https://examplebucket.s3.amazonaws.com/\(path)", buckets: ["photos"])
        #expect((request.headerFields[.authorization] != nil) == isSigned)
    }

    @Test(
        "is rejected if the store may resolve it to another object",
        arguments: [
            "photos/%2e%2e/private/a.png", "photos/%2E%2E/private/a.png", "photos/.%2e/a.png",
            "photos/a%2f..%2f..%2fprivate/a.png", "photos/%2e/a.png", "photos/x/%2e%2e",
            "photos/%252e%252e/private/a.png", "photos/..%5cprivate/a.png",
            "photos%2f%2e%2e%2fprivate/a.png", "private/%2e%2e/photos/a.png",
        ])
    func dotSegments(path: String) async throws {
        let transport = S3Transport(
            noting, try HTTPURL("https://s3.example"), ["photos"], "us-east-1",
            .init(keyID: "a", secret: "b")
        ) { Date() }
        let request = HTTPRequest(
            method: .get, scheme: "https", authority: "s3.example", path: "/\(path)")
        await #expect(
            throws: LoadError.addressRefused(
                url: "https://s3.example/\(path)", reason: "the path is not a valid object key")
        ) { _ = try await transport.send(request) }
        #expect(noting.requests.isEmpty)
    }

    @Test(
        "is not signed for another server",
        arguments: [
            "https://evil.example/test.txt", "http://examplebucket.s3.amazonaws.com/test.txt",
            "https://examplebucket.s3.amazonaws.com:8443/test.txt",
            "https://examplebucket.s3.amazonaws.com.evil.example/test.txt",
        ])
    func others(url: String) async throws {
        let request = try await sent(url, token: "a token")
        #expect(request.headerFields.isEmpty)
    }
}
