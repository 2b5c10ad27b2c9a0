// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import ImageLoading

extension Validators {
    /// The validators of an original, or of data read from it.
    init(original identity: FileIdentity, tag: String) {
        self.init(
            tag: tag, modified: HTTPDate(seconds: identity.modificationTime / 1_000_000_000))
    }

    /// The validators of a resource derived from an original.
    init(original identity: FileIdentity, made tag: String) {
        self.init(
            made: tag, modified: HTTPDate(seconds: identity.modificationTime / 1_000_000_000))
    }
}

extension IncomingRequest {
    /// The headers that an original and the resources derived from it have in common.
    func imageHeaders(_ identity: FileIdentity, _ validators: Validators) -> HTTPFields {
        var headers = validators.fields
        // A URL with the version never returns another image.
        let isImmutable = query("v").map { $0 == identity.version } ?? false
        headers[.cacheControl] =
            isImmutable ? "public, max-age=31536000, immutable" : "public, no-cache"
        return headers
    }
}
