// SPDX-License-Identifier: Apache-2.0

internal import HTTPCaching
internal import EncodedImages
internal import HTTPTypes

/// The bytes that a load delivers: an original, and the parts of the request that select its bytes.
struct OriginalLoadKey: Hashable, Sendable {
    let original: OriginalIdentity
    var fields: HTTPFields = [:]
    var webUse = HTTPLoadRequest.CachePolicy.useProtocol
    /// Distinguishes a load that is not shared; 0 for one that is.
    var salt: UInt64 = 0
    /// Whether a stale response is accepted while a newer one is requested.
    var acceptsStale = true
    /// The hash of a stored response body that is not accepted, because it is no image.
    var refusedBody: UInt64?
}

extension OriginalLoadKey {
    init(_ request: ImageRequest, of original: OriginalIdentity, salt: UInt64) {
        self.init(
            original: original, fields: request.fields, webUse: request.webUse, salt: salt)
    }
}

/// The image that a load makes: the bytes that it is made from, and what is done with them.
struct ImageLoadKey: Hashable, Sendable {
    let data: OriginalLoadKey
    private(set) var options: DecodeOptions
    /// The identities of the processors, the first first.
    let processors: [String]
    /// See ``ImageRequest/isReproducible``.
    var isReproducible = false

    /// The image, whatever the load.
    var image: ImageKey {
        ImageKey(original: data.original, options: options, processors: processors)
    }

    /// The key of all loads that differ from this one in nothing but the size of the image.
    ///
    /// `nil` if the image shows a part of the original that other sizes do not show.
    var withoutSize: ImageLoadKey? {
        guard options.region == nil, options.appliesOrientation,
            options.embeddedThumbnail == .ignore
        else { return nil }
        let none = DecodeOptions()
        var key = self
        (key.options.box, key.options.mode) = (none.box, none.mode)
        (key.options.anchor, key.options.allowsEnlarging) = (none.anchor, none.allowsEnlarging)
        return key
    }
}

extension ImageLoadKey {
    init(image: ImageKey, fields: HTTPFields = [:]) {
        self.init(image, OriginalLoadKey(original: image.original, fields: fields))
    }

    /// The key of an image of the original of `data`.
    init(_ image: ImageKey, _ data: OriginalLoadKey, isReproducible: Bool = false) {
        self.init(
            data: data, options: image.options, processors: image.processors,
            isReproducible: isReproducible)
    }
}
