// SPDX-License-Identifier: Apache-2.0

internal import LoadScheduling
internal import HTTPTypes
internal import HummingbirdCore
internal import ImageLoading

/// `GET /healthz`: whether the server runs; responds to every client at all times.
struct HealthRoute: Route {
    var steps: RequestSteps { [] }

    func matches(_ request: IncomingRequest) -> Bool { request.encodedPath == "/healthz" }

    func response(to request: IncomingRequest) -> Response { .statusOK }
}

/// `GET /readyz`: whether the server accepts work; responds to every client at all times.
struct ReadinessRoute: Route {
    let pipeline: ImagePipeline

    var steps: RequestSteps { [] }

    func matches(_ request: IncomingRequest) -> Bool { request.encodedPath == "/readyz" }

    func response(to request: IncomingRequest) throws -> Response {
        guard pipeline.takesWork else { throw LoadError.queueFull }
        return .statusOK
    }
}

/// `GET /metrics`: all metrics in the text format of Prometheus, without a signature.
struct MetricsRoute: Route {
    let metrics: PrometheusMetrics

    var steps: RequestSteps { [.connectionLimit, .pageGuard] }

    func matches(_ request: IncomingRequest) -> Bool { request.encodedPath == "/metrics" }

    func response(to request: IncomingRequest) -> Response {
        .ok(
            metrics.text,
            [.cacheControl: "no-store", .contentType: "text/plain; version=0.0.4"])
    }
}

extension Response {
    fileprivate static var statusOK: Response {
        .json(["status": "ok"], headers: [.cacheControl: "no-store"])
    }
}
