// SPDX-License-Identifier: Apache-2.0

internal import HTTPCaching
internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import ImageLoading
internal import Pixels

extension ImageResponder {
    /// `GET /SIGNATURE/rs:fill:300:400/plain/house/1.jpg@webp` answers as imgproxy does.
    func imgproxy(_ keys: ImgproxyKeys, _ request: Request) async throws -> Response {
        let address = try ImgproxyAddress(
            request.uri.path, maximumSide: configuration.maximumSide, formats: formatNames,
            presets: presets)
        if !keys.keys.isEmpty {
            try AddressSignature(keys: keys.keys)
                .check(address.signature, of: address.signed, salt: keys.salt)
        }
        if let expires = address.expires, Self.now >= expires { throw ServerError.expired }
        if address.hasOwnOptions || !address.hasPreset { try checkOwnOptions() }
        var source = address.source[...]
        if source.hasPrefix("local://") {
            source = source.dropFirst("local://".count).drop { $0 == "/" }
        } else if source.contains("://"), let sources = configuration.webSources {
            return try await webRendition(
                sources.url(of: String(source)), address.options, request)
        } else if source.contains("://") || source.hasPrefix("data:") {
            throw ServerError.forbidden(reason: "pictures of this kind of address are not served")
        }
        guard let names = RequestPath.names(String(source)) else { throw ServerError.notFound }
        return try await rendition(names, address.options, request)
    }

    /// A picture of an original on the web, made again when the web says that it has changed.
    private func webRendition(
        _ url: HTTPURL, _ wanted: PictureOptions, _ request: Request
    ) async throws -> Response {
        let (options, varying) = suited(wanted, to: request)
        var renditionRequest = try options.request(
            of: .url(url), original: nil, maximumSide: configuration.maximumSide)
        renditionRequest.image.trace = TraceContext(request.headers)
        let cost = RenditionCost(usual: options, maximumSide: configuration.maximumSide)
        if options.allowsEnlarging, cost == nil {
            // The original's size, which would allow as much, is not known before it is loaded.
            try RenditionCost(
                options, of: PixelSize(width: 1, height: 1),
                maximumSide: configuration.maximumSide
            ).check(configuration)
        }
        let work = cost == nil ? slowWork : usualWork
        let rendition = try await work.run(RequestClient.current.name) { [renditionRequest] in
            try await pipeline.rendition(for: renditionRequest)
        }
        // Of the bytes: what the web says of the original is not known here.
        var digest = Digest()
        digest.add(rendition.bytes)
        let validators = Validators(made: digest.text)
        var headers = validators.fields
        headers[.cacheControl] = "public, max-age=600, stale-while-revalidate=86400"
        if !varying.isEmpty { headers[.vary] = varying.joined(separator: ", ") }
        if validators.isNotModified(request.headers) { return .notModified(headers) }
        headers.append(contentsOf: description(of: rendition, options))
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: rendition.bytes)))
    }

    static var now: Int { HTTPDate.now.seconds }
}

/// What addresses in the form of imgproxy are signed with.
public struct ImgproxyKeys: Sendable, Hashable {
    /// Any of these is right; without one, signatures are not looked at.
    public var keys: [[UInt8]]
    /// Stands before what is signed.
    public var salt: [UInt8]

    public init(keys: [[UInt8]] = [], salt: [UInt8] = []) {
        self.keys = keys
        self.salt = salt
    }
}
