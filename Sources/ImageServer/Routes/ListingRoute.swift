// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import HTTPTypes
internal import HummingbirdCore
internal import ImageLoading
internal import Pixels
internal import Placeholders

/// One page of a folder, in columns: enough to lay out every picture without fetching one.
struct ListingPage: Encodable {
    struct Folders: Encodable {
        let name: [String]
        /// The pictures directly inside, told by their names alone.
        let pictures: [Int]
    }

    struct Pictures: Encodable {
        var name: [String] = []
        /// In pixels as the picture is looked at; 0 for one that cannot be read.
        var width: [Int] = []
        var height: [Int] = []
        /// Seconds since 1970.
        var modified: [Int] = []
        var version: [String] = []
        /// Why pictures cannot be read, by their place in the columns.
        var error: [Int: String] = [:]
        /// ThumbHashes in Base64, by the places of their pictures in the columns; those that are not
        /// known yet are missing.
        var placeholder: [Int: String] = [:]
    }

    let folder: String
    /// The sides, in pixels, at which a page should ask for renditions.
    let ladder: [Int]
    /// On the first page only.
    let folders: Folders?
    /// The pictures on all pages.
    let total: Int
    let offset: Int
    /// Where the next page starts.
    let next: Int?
    /// The same on every page of a folder until anything in the folder changes.
    let revision: String
    let pictures: Pictures

    private enum Key: CodingKey {
        case folder, ladder, folders, total, offset, next, revision, pictures
    }

    /// By hand for `next`, which is `null` on the last page rather than missing.
    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(folder, forKey: .folder)
        try object.encode(ladder, forKey: .ladder)
        try object.encodeIfPresent(folders, forKey: .folders)
        try object.encode(total, forKey: .total)
        try object.encode(offset, forKey: .offset)
        try object.encode(next, forKey: .next)
        try object.encode(revision, forKey: .revision)
        try object.encode(pictures, forKey: .pictures)
    }
}

extension ImageResponder {
    static let maximumPageCount = 5_000
    /// The number of pictures in listings and sheets that count as one request for a picture.
    static let pictureCountPerToken = 100.0

    /// Steps of about 1.4, so that no rendition has more than twice the pixels that are shown.
    static let ladder = [64, 96, 128, 192, 256, 384, 512, 768, 1_024, 1_536, 2_048, 3_072, 4_096]

    /// `GET /-/listing/house?offset=0&limit=5000` answers a page of the folder.
    func listing(_ segments: [String], _ request: Request) async throws -> Response {
        let offset = try number("offset", 0..., default: 0, request)
        let limit = try number("limit", 1..., default: Self.maximumPageCount, request)
        let contents = try await disk { [folders] in try folders.recentContents(of: segments) }
        let total = contents.pictures.count
        let start = min(offset, total)
        let end = start + min(limit, Self.maximumPageCount, total - start)

        let kept = try await pipeline.keptFacts(for: Array(contents.identities[start..<end]))
        // Placeholders come with the first renditions, and none goes before its picture changes.
        let placeholderCount = kept.values.count { $0.placeholder != nil }
        let validators = Validators(
            tag: "\(contents.revision)-\(start)-\(end)-\(placeholderCount)")
        let headers = validators.fields.with(.cacheControl, "no-cache")
        if validators.isNotModified(request.headers) { return .notModified(headers) }
        limiter?.charge(
            RequestClient.current.name, Double(end - start) / Self.pictureCountPerToken)
        let page = ListingPage(
            folder: segments.joined(separator: "/"),
            ladder: Self.ladder.filter { $0 <= configuration.maximumSide },
            folders: offset == 0
                ? .init(name: contents.folders, pictures: contents.pictureCounts) : nil,
            total: total, offset: offset, next: end < total ? end : nil,
            revision: contents.revision, pictures: try await columns(contents, start..<end, kept))
        return .json(page, headers: headers)
    }

    private func columns(
        _ contents: FolderContents, _ range: Range<Int>, _ kept: [FileIdentity: ImageFacts]
    ) async throws -> ListingPage.Pictures {
        let identities = Array(contents.identities[range])
        let missing = identities.filter { kept[$0] == nil }
        // Links may name a file twice.
        let read = Dictionary(
            zip(missing, await pipeline.facts(for: missing)), uniquingKeysWith: { $1 })
        var pictures = ListingPage.Pictures()
        pictures.name = Array(contents.pictures[range])
        pictures.modified = identities.map { $0.modificationTime / 1_000_000_000 }
        pictures.version = identities.map(\.version)
        for (index, identity) in identities.enumerated() {
            let result = kept[identity].map { .success($0) } ?? read[identity]
            let facts = try? result?.get()
            pictures.width.append(facts?.pixelSize.width ?? 0)
            pictures.height.append(facts?.pixelSize.height ?? 0)
            // As the tag says: not those that came since.
            pictures.placeholder[index] = kept[identity]?.placeholder?.base64
            if case .failure(let error) = result {
                let answer = ErrorResponse(error)
                // A page that is kept by its tag must not remember that we were busy.
                // One that is being written is told from the page's own tag.
                if answer.isPassing, !Self.isChange(error) { throw error }
                pictures.error[index] = answer.message
            }
        }
        return pictures
    }

    func number(
        _ name: String, _ range: PartialRangeFrom<Int>, default: Int, _ request: Request
    ) throws(ServerError) -> Int {
        guard let text = request.uri.queryParameters[Substring(name)] else { return `default` }
        guard let number = Int(text), range.contains(number) else {
            throw .malformedRequest(
                reason: "\(name) is a whole number from \(range.lowerBound)")
        }
        return number
    }
}
