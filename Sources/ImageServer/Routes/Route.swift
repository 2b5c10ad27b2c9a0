// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import HummingbirdCore

/// A kind of resource: which URLs it has, and the responses to requests for them.
///
/// To add a route, add a file with a type that conforms, and one line to the list in ``RouteTable``.
protocol Route: Sendable {
    /// The first segment of the route's paths, such as `tiles`; `nil` for paths of another form.
    ///
    /// Files in a top-level folder of this name are hidden.
    var prefix: String? { get }
    /// The supported methods, in the order of the `Allow` header.
    var methods: [HTTPRequest.Method] { get }
    /// The steps of ``RequestHandler`` that requests pass before they reach the route.
    var steps: RequestSteps { get }
    /// Whether guests with a link to a selection of images may request it; the route then shows nothing that
    /// ``IncomingRequest/permission`` does not allow.
    var isForSelections: Bool { get }

    /// Whether the route has a resource with the path of a request, whatever the method.
    func matches(_ request: IncomingRequest) -> Bool

    /// The methods of ``methods`` that the resource of a request that ``matches(_:)`` supports; all by default.
    func methods(for request: IncomingRequest) -> [HTTPRequest.Method]

    /// Returns the response to a request that ``matches(_:)``.
    ///
    /// - Throws: an error that ``ErrorResponse`` maps to a status.
    func response(to request: IncomingRequest) async throws -> Response
}

extension Route {
    var prefix: String? { nil }
    var methods: [HTTPRequest.Method] { readMethods }
    var steps: RequestSteps { .standard }
    var isForSelections: Bool { false }

    func methods(for request: IncomingRequest) -> [HTTPRequest.Method] { methods }

    func matches(_ request: IncomingRequest) -> Bool {
        guard let prefix, let path = request.path, !path.endsWithSlash else { return false }
        return path.segments.count > 1 && path.segments.first == prefix
    }
}

/// The methods of most routes, allocated once.
private let readMethods: [HTTPRequest.Method] = [.get, .head]

/// The steps of ``RequestHandler`` that depend on the route.
struct RequestSteps: OptionSet {
    let rawValue: Int

    /// Rejects requests on connections beyond the limit.
    static let connectionLimit = RequestSteps(rawValue: 1 << 0)
    /// Rejects requests of other sites' pages.
    static let pageGuard = RequestSteps(rawValue: 1 << 1)
    /// Rejects URLs that are too long.
    static let pathLength = RequestSteps(rawValue: 1 << 2)
    /// Rejects URLs without a valid signature.
    static let signature = RequestSteps(rawValue: 1 << 3)
    /// Adds the headers of cross-origin resource sharing, and responds to preflight requests.
    static let cors = RequestSteps(rawValue: 1 << 4)
    /// Takes a token of the client's request rate.
    static let rateLimit = RequestSteps(rawValue: 1 << 5)
    /// Limits the time until the response begins.
    static let deadline = RequestSteps(rawValue: 1 << 6)
    /// Runs the route a second time if an original changed while it was read.
    static let retry = RequestSteps(rawValue: 1 << 7)

    /// Rejects requests without a permission, if there is a password.
    static let access = RequestSteps(rawValue: 1 << 8)

    /// The steps of pages and scripts: no work that needs a limit.
    static let light: RequestSteps = [.connectionLimit, .pageGuard, .pathLength, .signature]
    /// The steps of all routes that read images.
    static let standard: RequestSteps = light.union([.access, .rateLimit, .deadline, .retry])
}
