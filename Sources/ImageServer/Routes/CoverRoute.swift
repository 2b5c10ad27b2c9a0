// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import HummingbirdCore
internal import ImageLoading
internal import PhotoLibrary

/// `GET /-/library/covers/house?offset=0&limit=70&side=256`: one image with a square for each subfolder of
/// a folder, ten in a row, in the order of the listing.
///
/// A square shows up to four of the newest images of the subfolder and those inside it; that of a folder
/// without images is transparent. The sheet is then WebP, and JPEG otherwise. With the `revision` of a listing,
/// the response is 404 if the folder has changed since: the squares would belong to other subfolders.
struct CoverRoute: Route {
    private static let maximumCount = 100
    private static let maximumSide = 512
    private static let imageCount = 4

    let library: PhotoLibrary
    let folders: FolderReader
    let sheets: SpriteSheets
    let queues: WorkQueues
    let limiter: ClientRateLimit?

    func matches(_ request: IncomingRequest) -> Bool {
        let names = request.segments
        return names.count >= 3 && names[0] == "-" && names[1] == "library" && names[2] == "covers"
    }

    func response(to request: IncomingRequest) async throws -> Response {
        library.start()
        let names = Array(request.segments.dropFirst(3))
        let offset = try request.number("offset", 0..., default: 0)
        let limit = min(
            try request.number("limit", 1..., default: Self.maximumCount), Self.maximumCount)
        let side = min(try request.number("side", 16..., default: 256), Self.maximumSide)
        let contents = try await queues.folders.run(request.client.name) {
            try await onDisk { [folders] in try folders.recentContents(of: names) }
        }
        if let revision = request.query("revision"), revision != contents.revision {
            throw ServerError.notFound
        }
        let chosen = contents.folders.dropFirst(offset).prefix(limit)
        let covers = try await library.covers(
            ofFolders: chosen.map { (names + [$0]).joined(separator: "/") },
            limit: Self.imageCount)
        var fingerprint = Fingerprint()
        for cover in covers {
            fingerprint.add(UInt64(cover.count))
            for identity in cover {
                fingerprint.add(identity.path)
                fingerprint.add(identity.version)
            }
        }
        let validators = Validators(made: "\(fingerprint.text)-\(side)")
        let headers = validators.fields.with(.cacheControl, "no-cache")
        if validators.isNotModified(request.headers) { return .notModified(headers) }
        guard let plan = try sheets.covers(covers, side: side) else { throw ServerError.notFound }
        limiter?.charge(
            request.client.name,
            Double(covers.count * Self.imageCount) / ListingRoute.imageCountPerToken)
        var options = RenditionOptions()
        options.format = covers.contains(where: \.isEmpty) ? "webp" : "jpeg"
        return try await queues.slow.run(request.client.name) { [options] in
            let (bytes, mediaType) = try await sheets.sheet(plan, options)
            return .ok(bytes, headers.with(.contentType, mediaType))
        }
    }
}
