// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import HummingbirdCore
internal import ImageLoading
internal import PhotoLibrary

/// `GET /-/library/duplicates?offset=0&limit=20`: groups of images that look alike or whose files are equal.
///
/// The first request starts the comparison; see ``PhotoLibrary``. Nothing is deleted.
struct DuplicateRoute: Route {
    private static let maximumGroupCount = 50

    let library: PhotoLibrary
    let queue: FairQueue
    let limiter: ClientRateLimit?

    /// The route reads no image.
    var steps: RequestSteps { .standard.subtracting(.retry) }

    func matches(_ request: IncomingRequest) -> Bool {
        request.segments == ["-", "library", "duplicates"]
    }

    func response(to request: IncomingRequest) async throws -> Response {
        library.start()
        let offset = try request.number("offset", 0..., default: 0)
        let limit = min(
            try request.number("limit", 1..., default: Self.maximumGroupCount),
            Self.maximumGroupCount)
        let duplicates = try await queue.run(request.client.name) { [library] in
            try await library.duplicates(offset: offset, limit: limit)
        }
        let count = duplicates.groups.reduce(0) { $0 + $1.images.count }
        limiter?.charge(request.client.name, Double(count) / ListingRoute.imageCountPerToken)
        return .json(DuplicatesPage(duplicates), headers: [.cacheControl: "no-cache"])
    }
}

private struct DuplicatesPage: Encodable {
    struct Group: Encodable {
        private enum CodingKeys: String, CodingKey {
            case images = "pictures"
            case bytes, equal
        }

        let images: ImageColumns
        /// The lengths of the files in bytes.
        let bytes: [Int]
        /// The index of the first image with an equal file, for each image.
        let equal: [Int]
    }

    let state: String
    let read: Int
    let found: Int
    /// The number of all groups.
    let total: Int
    let groups: [Group]

    init(_ duplicates: LibraryDuplicates) {
        state = duplicates.isComplete ? "complete" : "reading"
        read = duplicates.readCount
        found = duplicates.totalCount
        total = duplicates.groupCount
        groups = duplicates.groups.map { group in
            Group(
                images: ImageColumns(group.images) { _ in nil },
                bytes: group.images.map(\.identity.byteCount), equal: group.firstEqual)
        }
    }
}
