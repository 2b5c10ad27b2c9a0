// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Hummingbird
internal import ImageLoading
internal import Pixels

/// The segment of an address that asks for a size, such as `512x512`.
struct SizeSegment {
    let box: PixelSize

    /// - Returns: `nil` if the segment is not of the form digits `x` digits, hence a folder.
    /// - Throws: ``ServerError/malformedRequest(reason:)`` if a side is not a number from 1 to
    ///   `maximumSide`, written in one way only so that equal renditions have equal addresses.
    init?(_ segment: String, maximumSide: Int) throws(ServerError) {
        let sides = segment.utf8.split(
            separator: UInt8(ascii: "x"), omittingEmptySubsequences: false)
        guard sides.count == 2,
            sides.allSatisfy({ side in
                !side.isEmpty && side.allSatisfy { (48...57).contains($0) }
            })
        else { return nil }
        let numbers = sides.compactMap { side in
            side.first == UInt8(ascii: "0") ? nil : Int(Substring(side))
        }
        guard numbers.count == 2, numbers.allSatisfy({ $0 <= maximumSide }) else {
            throw .malformedRequest(
                reason: "a size is WIDTHxHEIGHT, both whole numbers from 1 to \(maximumSide)")
        }
        box = PixelSize(width: numbers[0], height: numbers[1])
    }
}

extension ImageResponder {
    /// `GET /house/512x512/1.jpg` answers the picture fitted into 512×512 pixels, never enlarged.
    func rendition(
        _ segments: [String], fitting box: PixelSize, _ request: Request
    ) async throws -> Response {
        let identity = try await disk { [photos] in try photos.original(segments) }
        let validators = Validators(original: identity, tag: "\(identity.version)-\(box)")
        let headers = pictureHeaders(identity, validators, request)
        if validators.isNotModified(request.headers) {
            // Without the rendition, but only of a picture: nobody learns what else is there.
            _ = try await facts(of: identity)
            return .notModified(headers)
        }
        let rendition = try await pipeline.rendition(
            for: RenditionRequest(
                image: ImageRequest(
                    path: identity.path, options: DecodeOptions(box: box), priority: .visible)))
        // The tag says which original was looked at; the picture must be made from that one.
        guard rendition.original == OriginalVersion(identity) else {
            throw ServerError.changedMeanwhile
        }
        return Response(
            status: .ok, headers: headers.with(.contentType, rendition.mediaType),
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: rendition.bytes)))
    }
}
