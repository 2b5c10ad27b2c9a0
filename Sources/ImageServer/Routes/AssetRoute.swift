// SPDX-License-Identifier: Apache-2.0

internal import HummingbirdCore

/// `GET /assets/Toolbar/Share?scale=2&appearance=dark`: the image of an asset catalog that suits a device.
///
/// Client hints complete what the query leaves open.
struct AssetRoute: Route {
    let assets: AssetResponder

    var prefix: String? { "assets" }

    func response(to request: IncomingRequest) async throws -> Response {
        try await assets.response(request.segments.dropFirst().joined(separator: "/"), request)
    }
}
