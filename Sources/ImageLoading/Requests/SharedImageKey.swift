// SPDX-License-Identifier: Apache-2.0

internal import HTTPCaching
internal import HTTPTypes

/// Which load of a picture: the picture, and what of the request has a say in its bytes.
struct SharedImageKey: Hashable, Sendable {
    let image: ImageKey
    var fields: HTTPFields = [:]
    var webUse = HTTPLoadRequest.CachePolicy.useProtocol
    /// Tells a load apart that is not to be shared.
    var salt: UInt64 = 0
    /// See ``ImageRequest/isReproducible``.
    var isReproducible = false
    /// Whether the web is asked if a picture is still right that is there already.
    var isRevalidation = false
}
