// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore

extension Response {
    /// A JSON response whose keys are sorted, so that equal values have equal bytes.
    static func json(
        _ value: some Encodable, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
    ) -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Encoding strings, numbers and lists of them cannot fail.
        let body = (try? encoder.encode(value)) ?? Data()
        return Response(
            status: status, headers: headers.with(.contentType, "application/json"),
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }

    /// A 200 response with `bytes` as its body.
    static func ok(_ bytes: [UInt8], _ headers: HTTPFields) -> Response {
        ok(ByteBuffer(bytes: bytes), headers)
    }

    /// A 200 response with `text` in UTF-8 as its body.
    static func ok(_ text: String, _ headers: HTTPFields) -> Response {
        ok(ByteBuffer(string: text), headers)
    }

    /// A 200 response with `buffer` as its body.
    static func ok(_ buffer: ByteBuffer, _ headers: HTTPFields) -> Response {
        Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: buffer))
    }

    /// A 304 response with the headers that the 200 response would have.
    static func notModified(_ headers: HTTPFields) -> Response {
        var response = Response(status: .notModified, headers: headers)
        // Both describe the body, which is not sent.
        response.headers[.contentLength] = nil
        response.headers[.contentType] = nil
        return response
    }
}
