// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import HummingbirdCore
internal import PhotoLibrary

/// `POST /-/library/marks` with `{"images": ["house/1.jpg"], "favourite": true, "rating": 4}`: marks images
/// beside the index of the library.
struct MarkRoute: Route {
    private struct Order: Decodable {
        let images: [String]
        let favourite: Bool?
        let rating: Int?
    }

    private static let maximumCount = 10_000

    let library: PhotoLibrary

    let methods: [HTTPRequest.Method] = [.post]
    var steps: RequestSteps { .standard.subtracting(.retry) }

    func matches(_ request: IncomingRequest) -> Bool {
        request.segments == ["-", "library", "marks"]
    }

    func response(to request: IncomingRequest) async throws -> Response {
        try request.checkIsOwn()
        library.start()
        let order: Order = try await request.body(
            "images, an array of paths, with favourite or rating")
        guard (1...Self.maximumCount).contains(order.images.count),
            order.favourite != nil || order.rating != nil,
            order.rating.map((0...5).contains) != false
        else {
            throw ServerError.malformedRequest(
                reason: "invalid marks; expected 1 to \(Self.maximumCount) images, favourite as "
                    + "true or false, rating from 0 to 5")
        }
        let unknown = try await library.mark(
            order.images, MarkChange(isFavourite: order.favourite, rating: order.rating))
        guard unknown.isEmpty else { throw ServerError.notFound }
        return Response(status: .noContent)
    }
}
