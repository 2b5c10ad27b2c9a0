// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import HTTPCaching
internal import HTTPTypes
internal import HummingbirdCore
internal import PhotoLibrary

/// `POST /-/share` with `{"folder": "house", "days": 7}` or `{"images": ["house/1.jpg"], "days": 7}`: the URL
/// of a link to a folder or to a selection, which `GET /-/share/TOKEN` exchanges for a cookie.
struct ShareRoute: Route {
    private struct Order: Decodable {
        let folder: String?
        let images: [String]?
        let days: Int
    }

    private struct Place: Encodable {
        let url: String
    }

    private static let maximumImageCount = 10_000

    let access: AccessControl
    let directory: ServedDirectory
    /// `nil` if the server has no index, which links to selections need.
    let library: PhotoLibrary?
    let selections: SharedSelections?
    /// The first segments of the paths of other routes, which are no folders.
    let prefixes: Set<String>
    let isSecure: Bool

    let methods: [HTTPRequest.Method] = [.get, .head, .post]
    // Only links are open; see the handling of `POST`.
    var steps: RequestSteps { [.connectionLimit, .pageGuard, .pathLength, .deadline] }

    func matches(_ request: IncomingRequest) -> Bool {
        let names = request.segments
        guard names.count >= 2, names[0] == "-", names[1] == "share" else { return false }
        return names.count == (request.method == .post ? 2 : 3)
    }

    func response(to request: IncomingRequest) async throws -> Response {
        guard request.method == .post else { return try await open(request) }
        guard access.permission(request.headers) == .everything else {
            throw ServerError.loginRequired
        }
        try request.checkIsOwn()
        let order: Order = try await request.body("folder, a path, or images, paths; and days")
        guard AccessControl.shareDays.contains(order.days) else {
            throw ServerError.malformedRequest(
                reason: "invalid days; expected 1 to \(AccessControl.shareDays.upperBound)")
        }
        let expires = HTTPDate.now.seconds + order.days * 86_400
        let permission =
            switch (order.folder, order.images) {
            case (let folder?, nil): Permission.folder(try await self.folder(folder))
            case (nil, let images?):
                Permission.images(try await selection(images, expires: expires))
            default: throw ServerError.malformedRequest(reason: "expected either folder or images")
            }
        return .json(
            Place(url: "/-/share/\(access.token(permission, expires: expires))"),
            headers: [.cacheControl: "no-store"])
    }

    private func folder(_ path: String) async throws -> Permission.SharedFolder {
        guard let names = names(of: path), let folder = Permission.SharedFolder(names) else {
            throw ServerError.notFound
        }
        _ = try await onDisk { [directory] in try directory.folder(names) }
        return folder
    }

    private func selection(
        _ paths: [String], expires: Int
    ) async throws -> Permission.SharedImages {
        guard (1...Self.maximumImageCount).contains(paths.count) else {
            throw ServerError.malformedRequest(
                reason: "a link shows 1 to \(Self.maximumImageCount) images")
        }
        guard let library, paths.allSatisfy({ names(of: $0) != nil }),
            Set(paths.map { ComparedByBytes($0) }).count == paths.count,
            let selection = try await library.share(
                paths, expires: expires, now: HTTPDate.now.seconds)
        else { throw ServerError.notFound }
        return Permission.SharedImages(selection)
    }

    /// Returns the names in a path that no other route has; `nil` for other paths.
    private func names(of path: String) -> [String]? {
        guard let names = RequestPath.names(path), let first = names.first, first != "-",
            !prefixes.contains(first)
        else { return nil }
        return names
    }

    /// Exchanges a link for a cookie, and shows the folder or the selection.
    private func open(_ request: IncomingRequest) async throws -> Response {
        let token = request.segments[2]
        let place: String
        switch access.permission(ofToken: token) {
        case .folder(let folder):
            let path = folder.names.map(\.wrappedValue.percentEncoded).joined(separator: "/")
            place = "/#/\(path)/"
        case .images(let images):
            guard try await selections?.images(images.id) != nil else {
                throw ServerError.expired
            }
            place = "/#all"
        case .everything, nil: throw ServerError.expired
        }
        // A user who has logged in stays so.
        guard access.permission(request.headers) != .everything else {
            return redirect(to: place, cookie: nil)
        }
        let duration = AccessControl.shareDays.upperBound * 86_400
        return redirect(
            to: place,
            cookie: AccessControl.cookie(token, seconds: duration, isSecure: isSecure))
    }
}
