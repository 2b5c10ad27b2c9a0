// SPDX-License-Identifier: Apache-2.0

internal import HTTPCaching
internal import ImageCommands
internal import ArgumentParser
internal import HTTPLoading
internal import ImageServer

/// The options for what the server returns, and to which clients.
struct ServingArguments: ParsableArguments {
    /// The environment variables of secrets, which must not appear in a process list.
    static let secrets = [
        "CALOTYPE_SIGNATURE_KEYS", "CALOTYPE_IMGPROXY_KEYS", "CALOTYPE_IMGPROXY_SALT",
        "CALOTYPE_PURGE_TOKENS", "CALOTYPE_REDIS_PASSWORD", "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
    ]

    @Option(
        help: """
            Comma-separated formats for clients that accept them, in order of preference, such as \
            avif,webp. Other clients receive JPEG, PNG, or GIF for animations.
            """)
    var formats = ""

    @Option(
        help: """
            The longer sides to which requested sizes are rounded up: quarters (four steps between \
            powers of two), a list in pixels such as 320,640,1280, or exact (no rounding).
            """)
    var sizes = "quarters"

    @Option(
        name: .customLong("target-ssim"),
        help: """
            The minimum SSIM of a rendition, from 0.5 to 0.999, for URLs that specify no quality \
            (default: quality 80 instead).
            """,
        transform: parseTargetSSIM)
    var targetSSIM: Double?

    @Option(
        help: """
            The maximum size of an animated rendition in megapixels, over all frames. Larger \
            animations are reduced to their first frame; 0 does so for all.
            """)
    var animationMegapixels = 500

    @Flag(
        help: """
            Let the headers Sec-CH-DPR, Sec-CH-Width, Sec-CH-Viewport-Width, ECT and Save-Data set \
            what a URL leaves open, such as the width in /_x/1.jpg.
            """)
    var clientHints = false

    @Option(
        help: "A PEM file with the certificate chain, the server's own first; enables HTTPS.",
        completion: .file())
    var tlsCertificate: String?

    @Option(
        help: "A PEM file with the private key. SIGHUP reloads key and certificates.",
        completion: .file())
    var tlsKey: String?

    @Option(help: "The URL under which clients reach the server, such as https://images.example.")
    var publicAddress: String?

    @Option(
        name: .customLong("preset"),
        help: """
            NAME=OPTIONS: a name for options in a URL, such as thumb=512x512,fill,q70. Repeatable.
            """)
    var presets: [String] = []

    @Option(
        name: .customLong("device"),
        help: """
            NAME=OPTIONS: defaults for URLs with device=NAME, such as watch=rgb565,fill,up. \
            Repeatable.
            """)
    var devices: [String] = []

    @Option(
        help: """
            An image file that renditions show where their URLs request the watermark, such as a \
            PNG with transparency. It is read once, at the start.
            """,
        completion: .file())
    var watermark: String?

    @Option(
        help: """
            A folder of templates NAME.json, which /card/NAME draws; it also enables /avatar. The \
            templates are read once, at the start.
            """,
        completion: .directory)
    var cards: String?

    @Option(
        help: """
            A file of calotype assets compile, whose images have URLs such as \
            /assets/NAME?scale=2&appearance=dark. It is mapped at the start: do not write to it, but replace \
            it and restart the server.
            """,
        completion: .file())
    var assets: String?

    @Flag(help: "Answer only URLs that consist of a preset.")
    var presetsOnly = false

    @Flag(help: "Answer imgproxy URLs in addition.")
    var imgproxy = false

    @Option(
        name: .customLong("source"),
        help: """
            A host from which imgproxy URLs may load images, such as photos.example or \
            *.photos.example. Its IP addresses must be public. Repeatable.
            """)
    var sources: [String] = []

    @Option(
        help: """
            The maximum size of an original loaded over HTTP, such as 100MB; larger ones receive \
            422 (default: half of --memory).
            """,
        transform: parseByteCount)
    var sourceLimit: Int?

    @Option(
        name: .customLong("allow-network"),
        help: """
            A network that is not public and that sources may use, in CIDR notation such as \
            10.1.0.0/16. Repeatable.
            """)
    var networks: [String] = []

    @Flag(help: "Load from sources over plain HTTP in addition to HTTPS.")
    var allowHTTP = false

    @Option(
        name: .customLong("bucket"),
        help: """
            An S3 bucket from which imgproxy URLs may load images, as s3://BUCKET/KEY. \
            AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY hold the credentials. Repeatable.
            """)
    var buckets: [String] = []

    @Option(
        help: """
            An S3 bucket, or BUCKET/PREFIX, in which servers share the renditions of files: they serve the \
            same folder under the same path. Renditions are read from it within 150 ms or else made, \
            and written in the background.
            """)
    var resultBucket: String?

    @Option(help: "The URL of the S3 service (default: https://s3.REGION.amazonaws.com).")
    var s3Endpoint: String?

    @Option(help: "The region of the S3 service.")
    var s3Region = "us-east-1"

    @Option(
        help: """
            The maximum number of image requests per second and client; more receive 429. A \
            listing or sprite sheet counts as one request, plus one per 100 images (default: \
            unlimited).
            """)
    var rateLimit: Double?

    @Option(
        help: """
            The Redis server of several servers, HOST:PORT or redis://USER@HOST:PORT/DATABASE: --rate-limit \
            counts over all of them, a purge reaches all of them, and with --result-bucket only one of them \
            makes a rendition. Each works alone while Redis does not answer.
            """)
    var redis: String?

    @Option(
        name: .customLong("allow-origin"),
        help: """
            An origin whose web pages may read responses, such as https://viewer.example, or * for \
            all (default: none if the server listens on a loopback address without \
            --public-address, otherwise all). Repeatable.
            """)
    var allowedOrigins: [String] = []

    @Flag(
        help: """
            Answer unsigned URLs other than imgproxy URLs although CALOTYPE_IMGPROXY_KEYS is set.
            """)
    var allowUnsigned = false

    @Option(
        name: .customLong("connections"),
        help: """
            The maximum number of connections (default: one per 256 KiB of --memory, and at most \
            half of the file descriptors).
            """)
    var connectionCount: Int?

    @Option(
        help: """
            The maximum size of an enlarged image in megapixels, or that of the original if larger.
            """)
    var enlargeMegapixels = 8.4

    @Option(
        help: """
            The maximum size, in megapixels, of a rendition that is slow to produce: with a blur \
            or an SSIM target, or in AVIF, JPEG XL or WebP.
            """)
    var slowMegapixels = 16.8

    @Option(
        help: """
            The deadline for producing an image, in seconds; after it, requests receive 503. \
            Loading an original over HTTP has three quarters of that time, then requests receive \
            504.
            """)
    var requestTimeout = 60.0

    @Flag(help: "Follow symbolic links that lead out of the folder; they are ignored otherwise.")
    var followLinks = false

    @Option(
        name: .customLong("password"),
        help: """
            A file with the hash of a password, as "calotype password" prints it, for /-/login. \
            Links to folders, made at /-/share, show these without it.
            """,
        completion: .file())
    var passwordFile: String?

    @Option(
        help: """
            The header field with the user that a proxy has authenticated, such as Remote-User. Only \
            for servers that nothing but the proxy can reach.
            """)
    var userHeader: String?

    @Flag(
        help: """
            Offer no timeline and no search. Otherwise the first request of the gallery page starts \
            an index of all images below the folder, which is stored in the cache.
            """)
    var noLibrary = false

    @Flag(help: "Serve Prometheus metrics at /metrics.")
    var metrics = false

    func validate() throws {
        if let rateLimit, !(0.001...1_000_000 ~= rateLimit) {
            throw ValidationError(
                "invalid --rate-limit: \(rateLimit); use 0.001 to 1000000 requests per second")
        }
        if let sourceLimit, !(1...1 << 40 ~= sourceLimit) {
            throw ValidationError(
                "invalid --source-limit: \(sourceLimit); use 1 byte to 1 TiB")
        }
        if !(0.001...86_400 ~= requestTimeout) {
            throw ValidationError(
                "invalid --request-timeout: \(requestTimeout); use 0.001 to 86400 seconds")
        }
        if let connectionCount, connectionCount < 1 {
            throw ValidationError("invalid --connections: \(connectionCount); use at least 1")
        }
        for (option, megapixels) in [
            ("--enlarge-megapixels", enlargeMegapixels), ("--slow-megapixels", slowMegapixels),
        ] where !(0.001...1e6 ~= megapixels) {
            throw ValidationError(
                "invalid \(option): \(megapixels); use 0.001 to 1000000 megapixels")
        }
        if !(0...1_000_000 ~= animationMegapixels) {
            throw ValidationError(
                "invalid --animation-megapixels: \(animationMegapixels); use 0 to 1000000"
            )
        }
        if (tlsCertificate == nil) != (tlsKey == nil) {
            throw ValidationError("--tls-certificate and --tls-key must be set together")
        }
        _ = try options(by: presets, "--preset")
        _ = try options(by: devices, "--device")
        _ = try ladder()
        _ = try addressGuard()
        _ = try webSources()
        _ = try resultURL()
        _ = try redisAddress([:])
    }

    /// Copies the options and secrets to the server's configuration.
    ///
    /// - Throws: `ValidationError` for an invalid format, preset, key or endpoint.
    func apply(
        to configuration: inout ImageServer.Configuration, _ secrets: [String: String]
    ) throws {
        configuration.followsLinks = followLinks
        configuration.sizes = try ladder()
        configuration.negotiatedFormatNames = formats.split(separator: ",").map(String.init)
        for name in configuration.negotiatedFormatNames
        where !configuration.canWrite(format: name) {
            throw ValidationError(
                "invalid --formats: \(name) is unknown or cannot be written")
        }
        configuration.targetSSIM = targetSSIM
        configuration.usesClientHints = clientHints
        configuration.publicAddress = publicAddress
        if let tlsCertificate, let tlsKey {
            configuration.tls = TLSFiles(certificates: tlsCertificate, privateKey: tlsKey)
        }
        configuration.presets = try options(by: presets, "--preset")
        configuration.devices = try options(by: devices, "--device")
        configuration.allowsPresetsOnly = presetsOnly
        configuration.webSources = try webSources()
        _ = try credentials(secrets)
        configuration.clientRate = rateLimit
        configuration.allowedOrigins = allowedOrigins
        configuration.allowsUnsigned = allowUnsigned
        configuration.maximumEnlargedPixelCount = Int(enlargeMegapixels * 1_000_000)
        configuration.maximumSlowPixelCount = Int(slowMegapixels * 1_000_000)
        configuration.requestTimeout = .seconds(requestTimeout)
        configuration.signatureKeys = try keys("CALOTYPE_SIGNATURE_KEYS", secrets)
        let imgproxyKeys = try keys("CALOTYPE_IMGPROXY_KEYS", secrets)
        if imgproxy || !imgproxyKeys.isEmpty {
            configuration.imgproxy = ImgproxyKeys(
                keys: imgproxyKeys, salt: try keys("CALOTYPE_IMGPROXY_SALT", secrets).first ?? [])
        }
        configuration.purgeTokens = (secrets["CALOTYPE_PURGE_TOKENS"] ?? "")
            .split(separator: ",").map(String.init)
    }

    /// Splits `NAME=OPTIONS` pairs; the last pair of a name counts.
    private func options(by pairs: [String], _ option: String) throws -> [String: String] {
        var options: [String: String] = [:]
        for pair in pairs {
            let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else {
                throw ValidationError("invalid \(option): \(pair); use NAME=OPTIONS")
            }
            options[parts[0]] = parts[1]
        }
        return options
    }

    /// The hosts and buckets of originals that are loaded over HTTP; `nil` for none.
    func webSources() throws -> WebSources? {
        if sources.isEmpty && buckets.isEmpty { return nil }
        #if !HTTPS
        throw ValidationError(
            "--source and --bucket need a build with the trait HTTPS, as make build makes it")
        #else
        var webSources = WebSources(
            hosts: sources, schemes: allowHTTP ? [.http, .https] : [.https])
        if !buckets.isEmpty {
            webSources.objectStore = ObjectStore(
                endpoint: try endpoint(), buckets: Set(buckets))
        }
        return webSources
        #endif
    }

    func endpoint() throws -> HTTPURL {
        let text = s3Endpoint ?? "https://s3.\(s3Region).amazonaws.com"
        guard let url = try? HTTPURL(text), url.path == "/" else {
            throw ValidationError(
                "invalid --s3-endpoint: \(text); use a URL without a path"
            )
        }
        return url
    }

    /// The URL of the bucket for renditions; `nil` for none.
    ///
    /// - Throws: `ValidationError` for an invalid name.
    func resultURL() throws -> HTTPURL? {
        guard let resultBucket else { return nil }
        #if !HTTPS
        throw ValidationError(
            "--result-bucket needs a build with the trait HTTPS, as make build makes it")
        #else
        let names = resultBucket.split(separator: "/", omittingEmptySubsequences: false)
        let isValid = names.allSatisfy { name in
            !name.isEmpty && name != "." && name != ".."
                && name.utf8.allSatisfy { Self.bucketBytes.contains($0) }
        }
        guard isValid, let url = try? HTTPURL("\(try endpoint())\(resultBucket)") else {
            throw ValidationError(
                "invalid --result-bucket: \(resultBucket); use BUCKET or BUCKET/PREFIX, with letters, digits, "
                    + "dots, dashes and underscores")
        }
        return url
        #endif
    }

    /// The Redis server that several servers share; `nil` for none.
    ///
    /// - Throws: `ValidationError` for an invalid address.
    func redisAddress(_ secrets: [String: String]) throws -> RedisAddress? {
        guard let redis else { return nil }
        do throws(RedisError) {
            var address = try RedisAddress(redis)
            if let password = secrets["CALOTYPE_REDIS_PASSWORD"], !password.isEmpty {
                address.password = password
            }
            return address
        } catch {
            throw ValidationError("invalid --redis: \(error)")
        }
    }

    private static let bucketBytes = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_".utf8)

    /// The credentials of the S3 service; `nil` without a bucket.
    ///
    /// - Throws: `ValidationError` if a bucket is configured and a variable is not set.
    func credentials(_ secrets: [String: String]) throws -> S3Transport.Credentials? {
        if buckets.isEmpty && resultBucket == nil { return nil }
        guard let keyID = secrets["AWS_ACCESS_KEY_ID"], !keyID.isEmpty,
            let secret = secrets["AWS_SECRET_ACCESS_KEY"], !secret.isEmpty
        else {
            throw ValidationError(
                "buckets require the variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
        }
        let token = secrets["AWS_SESSION_TOKEN"] ?? ""
        return S3Transport.Credentials(
            keyID: keyID, secret: secret, sessionToken: token.isEmpty ? nil : token)
    }

    /// The IP addresses to which connections for originals may be opened.
    func addressGuard() throws -> AddressGuard {
        AddressGuard(
            allowed: try networks.map(Self.network))
    }

    /// Parses a network of `--allow-network`.
    ///
    /// - Throws: `ValidationError`.
    static func network(_ text: String) throws -> AddressGuard.Block {
        guard let block = AddressGuard.Block(text) else {
            throw ValidationError(
                "invalid --allow-network: \(text); use CIDR notation such as 10.1.0.0/16")
        }
        return block
    }

    private func ladder() throws -> SizeLadder {
        switch sizes {
        case "quarters": return .quarters
        case "exact": return .exact
        default:
            let steps = sizes.split(separator: ",").map { Int($0) ?? 0 }
            guard !steps.isEmpty, steps.allSatisfy({ $0 > 0 }) else {
                throw ValidationError(
                    "invalid --sizes: \(sizes); use quarters, exact, or a list such as 320,640")
            }
            return SizeLadder(steps: steps)
        }
    }

    private func keys(_ name: String, _ secrets: [String: String]) throws -> [[UInt8]] {
        try (secrets[name] ?? "").split(separator: ",").map { text in
            guard let key = hexadecimalBytes(text) else {
                throw ValidationError("invalid key in \(name): use pairs of hexadecimal digits")
            }
            return key
        }
    }
}

/// Decodes pairs of hexadecimal digits; returns `nil` for any other text.
func hexadecimalBytes(_ text: Substring) -> [UInt8]? {
    let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    guard !digits.isEmpty, digits.count == text.utf8.count, digits.count % 2 == 0 else {
        return nil
    }
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}
