// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore

/// A body that is made piece by piece, as the client takes it.
///
/// - Parameters:
///   - pieces: makes the pieces.
///   - byteCount: the length of the body; `nil` if it is unknown.
///   - channel: the connection; each piece is made after the previous one has been sent.
/// - Returns: the body.
func pieceByPiece<Pieces: AsyncIteratorProtocol & Sendable>(
    _ pieces: Pieces, byteCount: Int?, over channel: (any Channel)?
) -> ResponseBody where Pieces.Element == ByteBuffer {
    ResponseBody(contentLength: byteCount) { writer in
        var pieces = pieces
        while let bytes = try await pieces.next() {
            try Task.checkCancellation()
            try await writer.write(bytes)
            try await channel?.untilSent()
        }
        try await writer.finish(nil)
    }
}

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
