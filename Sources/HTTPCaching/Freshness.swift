// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes

/// Until when an answer may be used, in seconds since 1970; not in that second any more.
///
/// - SeeAlso: RFC 9111, section 4.2, and RFC 5861.
struct Freshness: Equatable {
    /// Without asking the server.
    var freshUntil: Int
    /// At once, while the server is asked.
    var staleWhileRevalidateUntil: Int
    /// If the server cannot answer.
    var staleIfErrorUntil: Int
    /// If there is nobody to ask.
    var mayBeStaleOffline: Bool

    /// For what did not come from a server.
    static var unlimited: Freshness {
        Freshness(
            freshUntil: .max, staleWhileRevalidateUntil: .max, staleIfErrorUntil: .max,
            mayBeStaleOffline: true)
    }
}

extension Freshness {
    /// - Parameters:
    ///   - status: the answer's; only some are fresh without being said to be.
    ///   - fields: the answer's.
    ///   - requestDate: when it was asked for.
    ///   - responseDate: when its head came.
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
            // What is no date, such as the usual `0`, has expired.
            return HTTPDate.seconds(expires).map { max(0, $0 - date) } ?? 0
        }
        guard [200, 301, 308, 404, 410].contains(status),
            let modified = fields[.lastModified].flatMap(HTTPDate.seconds)
        else { return 0 }
        return max(0, date - modified) / 10
    }
}
