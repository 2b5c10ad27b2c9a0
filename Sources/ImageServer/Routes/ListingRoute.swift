// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import HummingbirdCore
internal import ImageLoading
internal import Pixels
internal import Placeholders

/// `GET /-/listing/house?offset=0&limit=5000`: one page of a folder's contents as JSON.
struct ListingRoute: Route {
    static let maximumPageCount = 5_000
    /// The number of images in listings and sheets that take one token of the request rate.
    static let imageCountPerToken = 100.0

    /// Steps by a factor of about 1.4: no rendition has more than twice the shown pixels.
    private static let ladder = [
        64, 96, 128, 192, 256, 384, 512, 768, 1_024, 1_536, 2_048, 3_072, 4_096,
    ]

    /// The sizes of renditions that pages request, in pixels.
    static func ladder(atMost maximumSide: Int) -> [Int] { ladder.filter { $0 <= maximumSide } }

    let folders: FolderReader
    let pipeline: ImagePipeline
    let queue: FairQueue
    let limiter: ClientRateLimit?
    /// The largest width or height of renditions in pixels.
    let maximumSide: Int

    /// A change during the request is reported in the page.
    var steps: RequestSteps { .standard.subtracting(.retry) }

    func matches(_ request: IncomingRequest) -> Bool {
        let names = request.segments
        return names.count >= 2 && names[0] == "-" && names[1] == "listing"
    }

    func response(to request: IncomingRequest) async throws -> Response {
        try await queue.run(request.client.name) {
            try await page(Array(request.segments.dropFirst(2)), request)
        }
    }

    private func page(_ names: [String], _ request: IncomingRequest) async throws -> Response {
        let offset = try request.number("offset", 0..., default: 0)
        let limit = try request.number("limit", 1..., default: Self.maximumPageCount)
        let contents = try await onDisk { [folders] in try folders.recentContents(of: names) }
        let total = contents.images.count
        let start = min(offset, total)
        let end = start + min(limit, Self.maximumPageCount, total - start)

        let stored = try await pipeline.storedFacts(for: Array(contents.identities[start..<end]))
        // Placeholders are stored with the first rendition, and kept until the image changes.
        let placeholderCount = stored.values.count { $0.placeholder != nil }
        let validators = Validators(
            tag: "\(contents.revision)-\(start)-\(end)-\(placeholderCount)")
        let headers = validators.fields.with(.cacheControl, "no-cache")
        if validators.isNotModified(request.headers) { return .notModified(headers) }
        limiter?.charge(request.client.name, Double(end - start) / Self.imageCountPerToken)
        let page = ListingPage(
            folder: names.joined(separator: "/"), ladder: Self.ladder(atMost: maximumSide),
            folders: offset == 0
                ? .init(name: contents.folders, images: contents.imageCounts) : nil,
            total: total, offset: offset, next: end < total ? end : nil,
            revision: contents.revision, images: try await columns(contents, start..<end, stored))
        return .ok(page.json, headers.with(.contentType, "application/json"))
    }

    private func columns(
        _ contents: FolderContents, _ range: Range<Int>, _ stored: [FileIdentity: ImageFacts]
    ) async throws -> ListingPage.Images {
        let identities = Array(contents.identities[range])
        let facts = identities.map { stored[$0] }
        let missing = zip(identities, facts).compactMap { $1 == nil ? $0 : nil }
        // Links may refer to the same file twice.
        let read = Dictionary(
            zip(missing, await pipeline.facts(for: missing)), uniquingKeysWith: { $1 })
        var images = ListingPage.Images()
        images.name = Array(contents.images[range])
        images.modified = identities.map { $0.modificationTime / 1_000_000_000 }
        images.version = identities.map(\.version)
        for (index, identity) in identities.enumerated() {
            let result = facts[index].map { .success($0) } ?? read[identity]
            let size = try? result?.get().pixelSize
            images.width.append(size?.width ?? 0)
            images.height.append(size?.height ?? 0)
            // Only the placeholders that the entity tag counts.
            images.placeholder[index] = facts[index]?.placeholder?.base64
            if case .failure(let error) = result {
                let failure = ErrorResponse(error)
                // A cacheable page must not contain transient errors. A change of the file is not
                // one: it changes the entity tag.
                if failure.isTransient, !isOriginalChange(error) { throw error }
                images.error[index] = failure.message
            }
        }
        return images
    }
}

/// One page of a folder, in columns, with the sizes that a client needs for its layout.
private struct ListingPage {
    struct Folders {
        let name: [String]
        /// The number of images directly inside each folder, by file name extension.
        let images: [Int]
    }

    struct Images {
        var name: [String] = []
        /// The upright width in pixels; 0 for an unreadable image.
        var width: [Int] = []
        /// The upright height in pixels; 0 for an unreadable image.
        var height: [Int] = []
        /// The modification times in seconds since 1970.
        var modified: [Int] = []
        var version: [String] = []
        /// The errors of unreadable images, by index.
        var error: [Int: String] = [:]
        /// The stored ThumbHashes in Base64, by index.
        var placeholder: [Int: String] = [:]
    }

    let folder: String
    /// The recommended sides of renditions in pixels.
    let ladder: [Int]
    /// The subfolders, on the first page only.
    let folders: Folders?
    /// The number of images on all pages.
    let total: Int
    let offset: Int
    /// The offset of the next page.
    let next: Int?
    /// A fingerprint of the folder, equal on all pages.
    let revision: String
    let images: Images

    /// The page with sorted keys; `next` is `null` on the last page.
    var json: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("folder", folder)
            if let folders {
                writer.member("folders") { writer in
                    writer.member("name", folders.name)
                    writer.member("pictures", folders.images)
                }
            }
            writer.member("ladder", ladder)
            writer.member("next", next)
            writer.member("offset", offset)
            writer.member("pictures") { writer in
                writer.member("error", images.error)
                writer.member("height", images.height)
                writer.member("modified", images.modified)
                writer.member("name", images.name)
                writer.member("placeholder", images.placeholder)
                writer.member("version", images.version)
                writer.member("width", images.width)
            }
            writer.member("revision", revision)
            writer.member("total", total)
        }
        return writer.bytes
    }
}
