// SPDX-License-Identifier: Apache-2.0

internal import HTTPCaching
internal import PictureCommands
internal import ArgumentParser
internal import HTTPLoading
internal import ImageLoading
internal import ImageServer

/// What a server answers, and to whom.
struct ServingArguments: ParsableArguments {
    /// The variables of the environment that hold what must not stand in a list of processes.
    static let secrets = [
        "CALOTYPE_SIGNATURE_KEYS", "CALOTYPE_IMGPROXY_KEYS", "CALOTYPE_IMGPROXY_SALT",
        "CALOTYPE_PURGE_TOKENS", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
    ]

    @Option(
        help: """
            Formats that clients get if they accept them, the best first, such as avif,webp; others \
            get JPEG, PNG, or GIF of what moves.
            """)
    var formats = ""

    @Option(
        help: """
            The sizes that pictures are made in: quarters (four steps from each power of two to the \
            next), exact (any), or lengths in pixels such as 320,640,1280.
            """)
    var sizes = "quarters"

    @Option(
        name: .customLong("target-ssim"),
        help: """
            How like the original at its size a picture must look (SSIM, 0.5 to 0.999), if its \
            address says nothing of its quality, in place of quality 80.
            """,
        transform: parseTargetSSIM)
    var targetSSIM: Double?

    @Option(
        help: """
            Megapixels of all frames together up to which an animation stays one; of one of more, and \
            of all with 0, the first frame is shown.
            """)
    var animationMegapixels = 500

    @Flag(
        help: """
            Let Sec-CH-DPR, Sec-CH-Width, Sec-CH-Viewport-Width, ECT and Save-Data choose what an \
            address leaves open, such as /_x/1.jpg its width.
            """)
    var clientHints = false

    @Option(
        help: "The server's certificate and those of who signed it, as PEM; then it speaks HTTPS.",
        completion: .file())
    var tlsCertificate: String?

    @Option(
        help: "Its private key, as PEM. SIGHUP makes the server read both anew.",
        completion: .file())
    var tlsKey: String?

    @Option(help: "Where the world finds the server, such as https://pictures.example.")
    var publicAddress: String?

    @Option(
        name: .customLong("preset"),
        help: "A name that stands for options, such as thumb=512x512,fill,q70; may be repeated.")
    var presets: [String] = []

    @Option(
        name: .customLong("device"),
        help: """
            A name for options that count where an address with device=NAME leaves them open, such \
            as watch=rgb565,fill,up; may be repeated.
            """)
    var devices: [String] = []

    @Flag(help: "Answer presets alone.")
    var presetsOnly = false

    @Flag(help: "Answer addresses in the form of imgproxy, too.")
    var imgproxy = false

    @Option(
        name: .customLong("source"),
        help: """
            A host whose pictures addresses in the form of imgproxy may name, such as \
            photos.example or *.photos.example; may be repeated. Its numbers must be public.
            """)
    var sources: [String] = []

    @Option(
        help: """
            The maximum size of an original on the web, such as 100MB; larger ones receive 422 \
            (default: half of --memory).
            """,
        transform: parseByteCount)
    var sourceLimit: Int?

    @Option(
        name: .customLong("allow-network"),
        help: "A network that sources may be on although it is not public, such as 10.1.0.0/16.")
    var networks: [String] = []

    @Flag(help: "Ask sources without TLS, too.")
    var allowHTTP = false

    @Option(
        name: .customLong("bucket"),
        help: """
            A bucket of a store that speaks S3, whose pictures addresses in the form of imgproxy may \
            name as s3://BUCKET/KEY; may be repeated. AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY \
            say who asks.
            """)
    var buckets: [String] = []

    @Option(help: "Where the store is (default: https://s3.REGION.amazonaws.com).")
    var s3Endpoint: String?

    @Option(help: "The region of the store.")
    var s3Region = "us-east-1"

    @Option(
        help: """
            Requests for pictures per second and client; listings and sprites count as one and \
            another for each 100 pictures.
            """)
    var rateLimit: Double?

    @Option(
        name: .customLong("allow-origin"),
        help: """
            An origin whose web pages may read answers, such as https://viewer.example, or * for \
            all; may be repeated (default: none if only this computer can reach the server and it has \
            no --public-address, otherwise all).
            """)
    var allowedOrigins: [String] = []

    @Flag(
        help: """
            Answer addresses of the server's own form without a signature although \
            CALOTYPE_IMGPROXY_KEYS is set.
            """)
    var allowUnsigned = false

    @Option(
        name: .customLong("connections"),
        help: """
            The maximum number of connections (default: one per 256 KiB of --memory, and at most half \
            of the file descriptors).
            """)
    var connectionCount: Int?

    @Option(
        help: "Megapixels of the largest picture that is enlarged, unless the original has more.")
    var enlargeMegapixels = 8.4

    @Option(
        help: """
            Megapixels of the largest picture with a blur, with an SSIM target, or in AVIF, JPEG XL or \
            WebP.
            """)
    var slowMegapixels = 16.8

    @Option(
        help: """
            Seconds that a picture may take to be made, then the client gets 503; an original on the \
            web may take three quarters of them, then it gets 504.
            """)
    var requestTimeout = 60.0

    @Flag(help: "Answer /metrics, as Prometheus reads it.")
    var metrics = false

    func validate() throws {
        if let rateLimit, !(0.001...1_000_000 ~= rateLimit) {
            throw ValidationError("a rate is from 0.001 to 1000000 pictures a second")
        }
        if let sourceLimit, !(1...1 << 40 ~= sourceLimit) {
            throw ValidationError("--source-limit is from 1 byte to 1 TiB, not \(sourceLimit)")
        }
        if !(0.001...86_400 ~= requestTimeout) {
            throw ValidationError("a picture may take from 0.001 to 86400 seconds")
        }
        if let connectionCount, connectionCount < 1 {
            throw ValidationError("at least 1 connection is needed")
        }
        if ![enlargeMegapixels, slowMegapixels].allSatisfy({ 0.001...1e6 ~= $0 }) {
            throw ValidationError("a picture may have from 0.001 to 1000000 megapixels")
        }
        if !(0...1_000_000 ~= animationMegapixels) {
            throw ValidationError("an animation may have from 0 to 1000000 megapixels")
        }
        if (tlsCertificate == nil) != (tlsKey == nil) {
            throw ValidationError("--tls-certificate and --tls-key go together")
        }
        _ = try options(by: presets, "a preset")
        _ = try options(by: devices, "a device")
        _ = try ladder()
        _ = try addressGuard()
        _ = try webSources()
    }

    /// Writes what was said into the server's configuration.
    ///
    /// - Throws: ``ValidationError`` that names what makes no sense.
    func apply(
        to configuration: inout ImageServer.Configuration, _ secrets: [String: String]
    ) throws {
        configuration.sizes = try ladder()
        configuration.negotiatedFormatNames = formats.split(separator: ",").map(String.init)
        for name in configuration.negotiatedFormatNames
        where !configuration.canWrite(format: name) {
            throw ValidationError("the format \(name) is unknown or cannot be written")
        }
        configuration.targetSSIM = targetSSIM
        configuration.usesClientHints = clientHints
        configuration.publicAddress = publicAddress
        if let tlsCertificate, let tlsKey {
            configuration.tls = TLSFiles(certificates: tlsCertificate, privateKey: tlsKey)
        }
        configuration.presets = try options(by: presets, "a preset")
        configuration.devices = try options(by: devices, "a device")
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

    /// What names stand for, of which the last counts.
    private func options(by pairs: [String], _ kind: String) throws -> [String: String] {
        var options: [String: String] = [:]
        for pair in pairs {
            let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else {
                throw ValidationError("\(kind) is NAME=OPTIONS, not \(pair)")
            }
            options[parts[0]] = parts[1]
        }
        return options
    }

    /// Which originals on the web are served; `nil` for none.
    func webSources() throws -> WebSources? {
        if sources.isEmpty && buckets.isEmpty { return nil }
        var webSources = WebSources(
            hosts: sources, schemes: allowHTTP ? [.http, .https] : [.https])
        if !buckets.isEmpty {
            webSources.objectStore = ObjectStore(
                endpoint: try endpoint(), buckets: Set(buckets))
        }
        return webSources
    }

    private func endpoint() throws -> HTTPURL {
        let text = s3Endpoint ?? "https://s3.\(s3Region).amazonaws.com"
        guard let url = try? HTTPURL(text), url.path == "/" else {
            throw ValidationError("\(text) is no endpoint such as https://s3.example")
        }
        return url
    }

    /// Who asks the store of objects; `nil` without one.
    ///
    /// - Throws: ``ValidationError`` if nobody says.
    func credentials(_ secrets: [String: String]) throws -> S3Transport.Credentials? {
        if buckets.isEmpty { return nil }
        guard let keyID = secrets["AWS_ACCESS_KEY_ID"], !keyID.isEmpty,
            let secret = secrets["AWS_SECRET_ACCESS_KEY"], !secret.isEmpty
        else {
            throw ValidationError(
                "--bucket needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment")
        }
        let token = secrets["AWS_SESSION_TOKEN"] ?? ""
        return S3Transport.Credentials(
            keyID: keyID, secret: secret, sessionToken: token.isEmpty ? nil : token)
    }

    /// Which machines are asked for them.
    func addressGuard() throws -> AddressGuard {
        AddressGuard(
            allowed: try networks.map { text in
                guard let block = AddressGuard.Block(text) else {
                    throw ValidationError("\(text) is no network such as 10.1.0.0/16")
                }
                return block
            })
    }

    private func ladder() throws -> SizeLadder {
        switch sizes {
        case "quarters": return .quarters
        case "exact": return .exact
        default:
            let steps = sizes.split(separator: ",").map { Int($0) ?? 0 }
            guard !steps.isEmpty, steps.allSatisfy({ $0 > 0 }) else {
                throw ValidationError("sizes are quarters, exact, or lengths such as 320,640")
            }
            return SizeLadder(steps: steps)
        }
    }

    private func keys(_ name: String, _ secrets: [String: String]) throws -> [[UInt8]] {
        try (secrets[name] ?? "").split(separator: ",").map { text in
            guard let key = hexadecimalBytes(text) else {
                throw ValidationError("\(name) is not hexadecimal")
            }
            return key
        }
    }
}

/// The bytes that pairs of hexadecimal digits stand for; `nil` for anything else.
func hexadecimalBytes(_ text: Substring) -> [UInt8]? {
    let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    guard !digits.isEmpty, digits.count == text.utf8.count, digits.count % 2 == 0 else {
        return nil
    }
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}
