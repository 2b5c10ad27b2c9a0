// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes

/// The times until which a response may be used, in seconds since 1970, exclusive.
///
/// - SeeAlso: RFC 9111, section 4.2, and RFC 5861.
struct Freshness: Equatable {
    /// The end of use without revalidation.
    var freshUntil: Int
    /// The end of use while the response is revalidated.
    var staleWhileRevalidateUntil: Int
    /// The end of use if the server fails.
    var staleIfErrorUntil: Int
    /// Whether a stale response may be used without a connection.
    var mayBeStaleOffline: Bool

    /// The freshness of content that is not from a server.
    static var unlimited: Freshness {
        Freshness(
            freshUntil: .max, staleWhileRevalidateUntil: .max, staleIfErrorUntil: .max,
            mayBeStaleOffline: true)
    }
}

extension Freshness {
    /// Computes the freshness of a response.
    ///
    /// - Parameters:
    ///   - status: the status code; only some have a heuristic lifetime.
    ///   - fields: the fields of the response.
    ///   - requestDate: the time of the request.
    ///   - responseDate: the time at which the head was received.
    init(status: Int, fields: HTTPFields, requestDate: Int, responseDate: Int) {
        let control = CacheControl(fields[.cacheControl] ?? "")
        let date = fields[.date].flatMap(HTTPDate.seconds) ?? responseDate
        let lifetime = Self.lifetime(control, status: status, fields, date: date)
        let age = fields[.age].flatMap { Int(trimmed($0)) }.map { min(max(0, $0), 1 << 31) } ?? 0
        let delay = max(0, responseDate - requestDate)
        let initialAge = max(max(0, responseDate - date), age + delay)
        freshUntil = responseDate - (control.isNoCache ? 0 : initialAge - lifetime)
        let isStrict = control.isNoCache || control.mustRevalidate
        mayBeStaleOffline = !isStrict
        staleWhileRevalidateUntil =
            isStrict ? freshUntil : freshUntil + (control.staleWhileRevalidate ?? 0)
        staleIfErrorUntil = isStrict ? freshUntil : freshUntil + (control.staleIfError ?? 0)
    }

    private static func lifetime(
        _ control: CacheControl, status: Int, _ fields: HTTPFields, date: Int
    ) -> Int {
        if let maximumAge = control.maximumAge { return maximumAge }
        if let expires = fields[values: .expires].first {
            // An invalid date, such as the common `0`, has expired.
            return HTTPDate.seconds(expires).map { max(0, $0 - date) } ?? 0
        }
        guard [200, 301, 308, 404, 410].contains(status),
            let modified = fields[.lastModified].flatMap(HTTPDate.seconds)
        else { return 0 }
        return max(0, date - modified) / 10
    }
}
