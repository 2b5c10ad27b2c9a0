// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import HTTPTypes
internal import HummingbirdCore
internal import ImageLoading
internal import PhotoLibrary
internal import Placeholders

/// `GET /-/library/…`: all images below the served folder by date, and a search; for guests with a link to
/// a selection, its images by date.
///
/// The first request starts the index; see ``PhotoLibrary``.
struct LibraryRoute: Route {
    private static let maximumImageCount = 500
    private static let completionCount = 12
    /// The longest wait for a change; proxies close connections after a minute without a response.
    private static let longestWait = Duration.seconds(20)
    /// The time for which a client does not hear of a change while more files are read.
    private static let settlingTime = Duration.seconds(1)
    /// After the year 9999, and as far before 1970.
    private static let lastDay = 4_000_000

    let library: PhotoLibrary
    /// Whether ``MarkRoute`` exists.
    let allowsMarks: Bool
    /// Whether ``ShareRoute`` exists.
    let allowsSharing: Bool
    let pipeline: ImagePipeline
    let queue: FairQueue
    let limiter: ClientRateLimit?
    let maximumSide: Int
    /// The maximum time until a response begins.
    let timeout: Duration

    /// The routes read no image.
    var steps: RequestSteps { .standard.subtracting(.retry) }
    var isForSelections: Bool { true }

    func matches(_ request: IncomingRequest) -> Bool {
        let names = request.segments
        return names.count == 3 && names[0] == "-" && names[1] == "library"
            && Page(rawValue: names[2]) != nil
    }

    private enum Page: String {
        case status, timeline, images, completions
    }

    func response(to request: IncomingRequest) async throws -> Response {
        guard let page = Page(rawValue: request.segments[2]) else { throw ServerError.notFound }
        library.start()
        if page == .status, let since = request.query("since").map(String.init) {
            await waitForChange(since: since)
        }
        var selection: ImageSelection?
        if case .images(let images) = request.permission {
            selection = images.selection
            // Guests cannot search.
            guard page != .completions, text("q", of: request).isEmpty else {
                throw ServerError.notFound
            }
            if page == .status {
                return Self.json(StatusPage(library.status, of: images.selection))
            }
        }
        if page == .status {
            return Self.json(
                StatusPage(
                    library.status, canMark: allowsMarks, canShare: allowsSharing))
        }
        return try await queue.run(request.client.name) { [selection] in
            switch page {
            case .status, .timeline: try await timeline(request, of: selection)
            case .images: try await images(request, of: selection)
            case .completions:
                Self.json(
                    CompletionPage(
                        try await library.completions(
                            of: text("q", of: request), limit: Self.completionCount)))
            }
        }
    }

    /// Waits until the library has another generation, at most for some time.
    ///
    /// Then until all files are read, so that a client fetches a change of several files once.
    private func waitForChange(since generation: String) async {
        let wait = min(Self.longestWait, timeout / 4)
        // A deadline that has passed is no error, and a client that has hung up gets no response.
        try? await withDeadline(wait) { [library] in
            await library.wait { $0.generation != generation }
        }
        guard library.status.generation != generation else { return }
        try? await withDeadline(min(Self.settlingTime, wait)) { [library] in
            await library.wait { $0.isComplete }
        }
    }

    private func timeline(
        _ request: IncomingRequest, of selection: ImageSelection?
    ) async throws -> Response {
        let query = text("q", of: request)
        let since = request.query("since").map(String.init)
        let validators = Validators(
            tag: Self.tag(
                library.status.generation, query, since ?? "all", selection?.id ?? ""))
        let headers = validators.fields.with(.cacheControl, "no-cache")
        if validators.isNotModified(request.headers) { return .notModified(headers) }
        let timeline =
            if let selection {
                try await library.timeline(of: selection)
            } else {
                try await library.timeline(matching: query, since: since)
            }
        limiter?.charge(
            request.client.name, Double(timeline.days.count) / ListingRoute.imageCountPerToken)
        // The entity tag is that of the generation before, unless nothing has changed meanwhile.
        let isCurrent = timeline.generation == library.status.generation
        return .json(
            TimelinePage(timeline, ladder: ListingRoute.ladder(atMost: maximumSide)),
            headers: isCurrent ? headers : [.cacheControl: "no-cache"])
    }

    private func images(
        _ request: IncomingRequest, of selection: ImageSelection?
    ) async throws -> Response {
        let query = text("q", of: request)
        let first = try day("first", of: request) ?? Self.lastDay
        let last = try day("last", of: request) ?? -Self.lastDay
        guard last <= first else {
            throw ServerError.malformedRequest(reason: "invalid days; first is the newest one")
        }
        let offset = try request.number("offset", 0..., default: 0)
        let limit = min(
            try request.number("limit", 1..., default: Self.maximumImageCount),
            Self.maximumImageCount)
        // Before the images, which may be newer. That of a timeline fetched at the same time is equal.
        let generation = await library.loadedGeneration
        let images =
            if let selection {
                try await library.images(
                    of: selection, inDays: last...first, offset: offset, limit: limit)
            } else {
                try await library.images(
                    matching: query, inDays: last...first, offset: offset, limit: limit)
            }
        limiter?.charge(
            request.client.name, Double(images.count) / ListingRoute.imageCountPerToken)
        let facts = try await pipeline.storedFacts(for: images.map(\.identity))
        return Self.json(
            ImagesPage(
                ladder: ListingRoute.ladder(atMost: maximumSide), generation: generation,
                pictures: ImageColumns(images) { facts[$0.identity]?.placeholder?.base64 }))
    }

    private static func json(_ page: some Encodable) -> Response {
        .json(page, headers: [.cacheControl: "no-cache"])
    }

    private static func tag(_ parts: String...) -> String {
        var fingerprint = Fingerprint()
        for part in parts { fingerprint.add(part) }
        return fingerprint.text
    }

    /// The value of a query parameter; empty if it is missing.
    ///
    /// Forms encode a space as `+`, which is no part of a word.
    private func text(_ name: String, of request: IncomingRequest) -> String {
        String(request.query(name) ?? "").replacing("+", with: " ")
    }

    /// The days since 1970 of a date such as `2024-02-29`.
    private func day(_ name: String, of request: IncomingRequest) throws(ServerError) -> Int? {
        guard let text = request.query(name) else { return nil }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
            .map { Int($0) ?? -1 }
        guard parts.count == 3, (0...9999).contains(parts[0]), (1...12).contains(parts[1]),
            (1...31).contains(parts[2])
        else {
            throw .malformedRequest(reason: "invalid \(name); expected a date such as 2024-02-29")
        }
        return CalendarDate(year: parts[0], month: parts[1], day: parts[2]).daysSince1970
    }
}

private struct StatusPage: Encodable {
    let state: String
    let found: Int
    let read: Int
    let secondsLeft: Int?
    let generation: String
    let canMark: Bool
    let canShare: Bool
    /// Whether the client sees a selection only.
    let isSelection: Bool

    /// - Parameters:
    ///   - status: the status of the whole library.
    ///   - selection: the images that the client may see.
    init(_ status: LibraryStatus, of selection: ImageSelection) {
        state = status.isComplete ? "complete" : "reading"
        found = selection.paths.count
        read = status.isComplete ? found : 0
        secondsLeft = nil
        generation = status.generation
        canMark = false
        canShare = false
        isSelection = true
    }

    init(_ status: LibraryStatus, canMark: Bool, canShare: Bool) {
        self.canMark = canMark
        self.canShare = canShare
        isSelection = false
        state = status.isComplete ? "complete" : "reading"
        found = status.foundCount
        read = status.readCount
        secondsLeft = status.secondsLeft.map { Int($0.rounded(.up)) }
        generation = status.generation
    }
}

private struct TimelinePage: Encodable {
    struct Days: Encodable {
        let date: [String]
        let count: [Int]
    }

    let ladder: [Int]
    let generation: String
    let total: Int
    let isPartial: Bool
    let isCut: Bool
    let days: Days
    /// One byte for each image of `days` in Base64; see `LibraryTimeline.aspects`.
    let aspects: String

    init(_ timeline: LibraryTimeline, ladder: [Int]) {
        self.ladder = ladder
        generation = timeline.generation
        total = timeline.count
        isPartial = timeline.isPartial
        isCut = timeline.isCut
        days = Days(date: timeline.days.map(\.date), count: timeline.days.map(\.count))
        aspects = Base64.encode(timeline.aspects.span)
    }
}

private struct ImagesPage: Encodable {
    let ladder: [Int]
    let generation: String
    let pictures: ImageColumns
}

/// Images in columns, as in listings.
struct ImageColumns: Encodable {
    var folder: [String] = []
    var name: [String] = []
    var width: [Int] = []
    var height: [Int] = []
    var taken: [String] = []
    /// The modification times in seconds since 1970.
    var modified: [Int] = []
    var version: [String] = []
    /// The errors of unreadable images, by index.
    var error: [Int: String] = [:]
    var placeholder: [Int: String] = [:]
    var rating: [Int: Int] = [:]
    /// The favourites of the user, by index.
    var favourite: [Int: Bool] = [:]

    init(_ images: [LibraryImage], placeholder: (LibraryImage) -> String?) {
        for (index, image) in images.enumerated() {
            folder.append(image.folder)
            name.append(image.name)
            width.append(image.width)
            height.append(image.height)
            taken.append(image.taken)
            modified.append(image.identity.modificationTime / 1_000_000_000)
            version.append(image.identity.version)
            error[index] = image.error
            self.placeholder[index] = placeholder(image)
            rating[index] = image.rating
            if image.isFavourite { favourite[index] = true }
        }
    }
}

private struct CompletionPage: Encodable {
    struct Item: Encodable {
        let text: String
        let label: String
        let kind: String
        let count: Int
    }

    let completions: [Item]

    init(_ completions: [Completion]) {
        self.completions = completions.map {
            Item(
                text: "\($0.kind):\"\($0.text.filter { $0 != "\"" })\"", label: $0.text,
                kind: $0.kind, count: $0.count)
        }
    }
}
