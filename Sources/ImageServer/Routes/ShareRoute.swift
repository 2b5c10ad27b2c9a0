// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import HTTPCaching
internal import HTTPTypes
internal import HummingbirdCore
internal import PhotoLibrary

/// `POST /-/share` with `{"folder": "house", "days": 7}` or `{"images": ["house/1.jpg"], "days": 7}`: the URL
/// of a link to a folder or to a selection, which `GET /-/share/TOKEN` exchanges for a cookie.
///
/// `GET /-/share` lists the links, and `DELETE /-/share/ID` withdraws one. Only users who have logged in may
/// do all but open a link.
struct ShareRoute: Route {
    private struct Order: Decodable {
        let folder: String?
        let images: [String]?
        let days: Int
    }

    private struct Place: Encodable {
        let url: String
    }

    private struct LinkPage: Encodable {
        struct Link: Encodable {
            let id: String
            /// `nil` for a link to a selection.
            let folder: String?
            let imageCount: Int
            /// In seconds since 1970.
            let created: Int
            /// In seconds since 1970.
            let expires: Int
            let url: String
        }

        let links: [Link]
    }

    private static let maximumImageCount = 10_000

    let access: AccessControl
    let directory: ServedDirectory
    /// `nil` if the server has no index, which links to selections need.
    let library: PhotoLibrary?
    let links: SharedLinks
    /// The first segments of the paths of other routes, which are no folders.
    let prefixes: Set<String>
    let isSecure: Bool

    let methods: [HTTPRequest.Method] = [.get, .head, .post, .delete]
    // Only links are open; see the handling of the other requests.
    var steps: RequestSteps { [.connectionLimit, .pageGuard, .pathLength, .deadline] }

    func matches(_ request: IncomingRequest) -> Bool {
        let names = request.segments
        guard names.starts(with: ["-", "share"]) else { return false }
        return names.count == 3 || (names.count == 2 && request.path?.endsWithSlash == false)
    }

    func methods(for request: IncomingRequest) -> [HTTPRequest.Method] {
        [.get, .head, request.segments.count == 2 ? .post : .delete]
    }

    func response(to request: IncomingRequest) async throws -> Response {
        let name = request.segments.dropFirst(2).first
        if let name, request.isRead { return try await open(name, request) }
        guard access.credential(request.headers) == .login else {
            throw ServerError.loginRequired
        }
        if request.isRead { return try await list() }
        try request.checkIsOwn()
        guard let name else { return try await share(request) }
        try await links.withdraw(name)
        return Response(status: .noContent)
    }

    private func list() async throws -> Response {
        let links = try await links.all().map { link in
            LinkPage.Link(
                id: link.id, folder: link.folder, imageCount: link.imageCount,
                created: link.created, expires: link.expires,
                url: place(of: link.id, expires: link.expires))
        }
        return .json(LinkPage(links: links), headers: [.cacheControl: "no-store"])
    }

    private func share(_ request: IncomingRequest) async throws -> Response {
        let order: Order = try await request.body("folder, a path, or images, paths; and days")
        guard AccessControl.shareDays.contains(order.days) else {
            throw ServerError.malformedRequest(
                reason: "invalid days; expected 1 to \(AccessControl.shareDays.upperBound)")
        }
        switch (order.folder, order.images) {
        case (let folder?, nil): try await check(folder)
        case (nil, let images?): try await check(images)
        default: throw ServerError.malformedRequest(reason: "expected either folder or images")
        }
        let expires = HTTPDate.now.seconds + order.days * 86_400
        let id = try await links.add(
            order.folder.map { .folder($0) } ?? .images(order.images ?? []), expires: expires)
        return .json(
            Place(url: place(of: id, expires: expires)), headers: [.cacheControl: "no-store"])
    }

    private func place(of id: String, expires: Int) -> String {
        "/-/share/\(access.token(.link(id), expires: expires))"
    }

    /// Checks that a folder is served.
    private func check(_ path: String) async throws {
        guard let names = names(of: path), Permission.SharedFolder(names) != nil else {
            throw ServerError.notFound
        }
        _ = try await onDisk { [directory] in try directory.folder(names) }
    }

    /// Checks that images are in the library.
    private func check(_ paths: [String]) async throws {
        guard (1...Self.maximumImageCount).contains(paths.count) else {
            throw ServerError.malformedRequest(
                reason: "a link shows 1 to \(Self.maximumImageCount) images")
        }
        guard let library, paths.allSatisfy({ names(of: $0) != nil }),
            Set(paths.map { ComparedByBytes($0) }).count == paths.count,
            try await library.contains(paths)
        else { throw ServerError.notFound }
    }

    /// Returns the names in a path that no other route has; `nil` for other paths.
    private func names(of path: String) -> [String]? {
        guard let names = RequestPath.names(path), let first = names.first, first != "-",
            !prefixes.contains(first)
        else { return nil }
        return names
    }

    /// Exchanges a link for a cookie, and shows the folder or the selection.
    private func open(_ token: String, _ request: IncomingRequest) async throws -> Response {
        guard case .link(let id) = access.credential(ofToken: token) else {
            throw ServerError.expired
        }
        let place: String
        switch try await links.permission(id) {
        case .folder(let folder):
            let path = folder.names.map(\.wrappedValue.percentEncoded).joined(separator: "/")
            place = "/#/\(path)/"
        case .images: place = "/#all"
        case .everything, nil: throw ServerError.linkEnded
        }
        // A user who has logged in stays so.
        guard access.credential(request.headers) != .login else {
            return redirect(to: place, cookie: nil)
        }
        let duration = AccessControl.shareDays.upperBound * 86_400
        return redirect(
            to: place,
            cookie: AccessControl.cookie(token, seconds: duration, isSecure: isSecure))
    }
}
