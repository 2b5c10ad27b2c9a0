// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import HummingbirdCore
internal import PhotoLibrary

/// `POST /-/library/marks` with `{"images": ["house/1.jpg"], "favourite": true, "rating": 4}`: marks images
/// beside the index of the library.
///
/// `GET /-/library/marks/house` returns the marked images of a folder.
struct MarkRoute: Route {
    private struct Order: Decodable {
        let images: [String]
        let favourite: Bool?
        let rating: Int?
    }

    private struct Page: Encodable {
        var name: [String] = []
        /// The ratings by index.
        var rating: [Int: Int] = [:]
        /// The favourites by index.
        var favourite: [Int: Bool] = [:]
    }

    private static let maximumCount = 10_000

    let library: PhotoLibrary
    let queue: FairQueue

    let methods: [HTTPRequest.Method] = [.get, .head, .post]
    var steps: RequestSteps { .standard.subtracting(.retry) }

    func matches(_ request: IncomingRequest) -> Bool {
        request.segments.starts(with: ["-", "library", "marks"])
    }

    func methods(for request: IncomingRequest) -> [HTTPRequest.Method] {
        request.segments.count == 3 ? methods : [.get, .head]
    }

    func response(to request: IncomingRequest) async throws -> Response {
        library.start()
        return request.method == .post ? try await mark(request) : try await marks(request)
    }

    private func mark(_ request: IncomingRequest) async throws -> Response {
        try request.checkIsOwn()
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

    /// The marked images of a folder; none of a folder that is not in the library.
    private func marks(_ request: IncomingRequest) async throws -> Response {
        let folder = request.segments.dropFirst(3).joined(separator: "/")
        let marks = try await queue.run(request.client.name) { [library] in
            try await library.marks(inFolder: folder)
        }
        var page = Page()
        for (index, (name, mark)) in marks.enumerated() {
            page.name.append(name)
            page.rating[index] = mark.rating
            if mark.isFavourite { page.favourite[index] = true }
        }
        return .json(page, headers: [.cacheControl: "no-cache"])
    }
}
