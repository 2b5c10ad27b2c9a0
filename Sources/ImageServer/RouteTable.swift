// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes

/// The routes, in the order in which they are matched.
struct RouteTable: Sendable {
    private let routes: [any Route]

    init(_ services: ServerServices) {
        let s = services
        let original = OriginalRoute(originals: s.originals, outgoing: s.outgoing)
        var routes: [any Route] = [
            HealthRoute(),
            ReadinessRoute(pipeline: s.pipeline),
            DescriptionRoute(),
        ]
        if let metrics = s.metrics { routes.append(MetricsRoute(metrics: metrics)) }
        if let keys = s.imgproxyKeys {
            routes.append(
                ImgproxyRoute(
                    keys: keys, renditions: s.localRenditions, responder: s.renditions,
                    negotiation: s.negotiation, grammar: s.grammar, webSources: s.webSources))
        }
        if let cards = s.cards { routes += [CardRoute(cards: cards), AvatarRoute(cards: cards)] }
        if let assets = s.assets { routes.append(AssetRoute(assets: assets)) }
        routes += [
            IIIFRoute(
                originals: s.originals, responder: s.renditions, tiles: s.tiles,
                hot: s.hotResponder, negotiation: s.negotiation, grammar: s.grammar,
                publicURL: s.publicURL),
            GalleryRoute(
                usesClientHints: s.negotiation.usesClientHints, access: s.access),
            ListingRoute(
                folders: s.folders, pipeline: s.pipeline, queue: s.queues.folders,
                limiter: s.limiter, maximumSide: s.grammar.maximumSide),
        ]
        routes += Self.libraryRoutes(s)
        routes += [
            DownloadRoute(
                downloads: s.downloads, originals: s.originals, renditions: s.renditions,
                negotiation: s.negotiation, grammar: s.grammar, outgoing: s.outgoing,
                limiter: s.limiter, library: s.library),
            TileRoute(originals: s.originals, tiles: s.tiles, hot: s.hotResponder),
            InformationRoute(originals: s.originals, pipeline: s.pipeline),
            PlaceholderRoute(originals: s.originals, pipeline: s.pipeline),
            SpriteRoute(
                originals: s.originals, folders: s.folders, sheets: s.sheets, queues: s.queues,
                limiter: s.limiter, grammar: s.grammar, negotiation: s.negotiation,
                original: original),
            RenditionRoute(renditions: s.localRenditions, grammar: s.grammar),
            original,
        ]
        let prefixes = Set(
            routes.compactMap(\.prefix) + ["_", "healthz", "readyz", "metrics", "iiif"])
        routes += Self.accessRoutes(s, prefixes)
        if !s.purgeTokens.isEmpty {
            routes.append(
                PurgeRoute(
                    purging: s.purging, grammar: s.grammar, tokens: s.purgeTokens,
                    hasImgproxy: s.imgproxyKeys != nil, prefixes: Set(routes.compactMap(\.prefix))))
        }
        self.routes = routes
    }

    private static func libraryRoutes(_ s: ServerServices) -> [any Route] {
        guard let library = s.library else { return [] }
        var routes: [any Route] = [
            LibraryRoute(
                library: library, allowsMarks: s.allowsMarks, allowsSharing: s.links != nil,
                pipeline: s.pipeline, queue: s.queues.folders, limiter: s.limiter,
                maximumSide: s.grammar.maximumSide, timeout: s.timeout),
            CoverRoute(
                library: library, folders: s.folders, sheets: s.sheets, queues: s.queues,
                limiter: s.limiter),
            DuplicateRoute(library: library, queue: s.queues.folders, limiter: s.limiter),
        ]
        if s.allowsMarks { routes.append(MarkRoute(library: library, queue: s.queues.folders)) }
        return routes
    }

    private static func accessRoutes(
        _ s: ServerServices, _ prefixes: Set<String>
    ) -> [any Route] {
        guard let access = s.access else { return [] }
        var routes: [any Route] = [
            LoginRoute(
                access: access, attempts: s.loginAttempts, queue: s.loginQueue,
                isSecure: s.isSecure),
            LogoutRoute(isSecure: s.isSecure),
        ]
        if let links = s.links {
            routes.append(
                ShareRoute(
                    access: access, directory: s.folders.directory, library: s.library,
                    links: links, prefixes: prefixes, isSecure: s.isSecure))
        }
        return routes
    }

    /// Returns the first route that has a resource at the path, and supports the method.
    func route(for request: IncomingRequest) -> (any Route)? {
        routes.first {
            $0.methods.contains(request.method) && $0.matches(request)
                && $0.methods(for: request).contains(request.method)
        }
    }

    /// The steps of a request without a route, which gets an error after them.
    ///
    /// `DELETE` requests are authorized by a token and need no signature.
    static func stepsWithoutRoute(_ request: IncomingRequest) -> RequestSteps {
        request.method == .delete ? .light.subtracting(.signature) : .light
    }

    /// The error for a request without a route.
    func error(for request: IncomingRequest) -> ServerError {
        if request.isRead, mayBeOriginal(request) { return .notFound }
        let isKnown =
            (request.path != nil && !request.isRead) || routes.contains { $0.matches(request) }
        return isKnown ? .methodNotAllowed : .notFound
    }

    /// The value of `Allow`: the methods of all routes that have a resource at the path.
    func allowedMethods(for request: IncomingRequest) -> String {
        var methods: [HTTPRequest.Method] = mayBeOriginal(request) ? [.get, .head] : []
        for route in routes where route.matches(request) {
            methods += route.methods(for: request).filter { !methods.contains($0) }
        }
        if methods.isEmpty { methods = [.get, .head] }
        return methods.map(\.rawValue).joined(separator: ", ")
    }

    /// Whether the path of a request can be that of an original, which can be read.
    private func mayBeOriginal(_ request: IncomingRequest) -> Bool {
        request.segments.first != "-"
    }
}
