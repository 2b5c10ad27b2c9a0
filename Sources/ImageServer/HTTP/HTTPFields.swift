// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes

extension HTTPFields {
    /// The value of a field that `HTTPField.Name` has no constant for.
    subscript(named name: String) -> String? {
        get { HTTPField.Name(name).flatMap { self[$0] } }
        set {
            if let name = HTTPField.Name(name) { self[name] = newValue }
        }
    }

    /// Adds the warning that pixels are missing from a response, which caches must then revalidate.
    ///
    /// The original may be complete at the next request.
    ///
    /// - Parameters:
    ///   - problem: the reason; `nil` if no pixels are missing.
    ///   - cacheControl: the value of `Cache-Control` if some are.
    mutating func addWarning(_ problem: String?, cacheControl: String = "public, no-cache") {
        guard let problem else { return }
        self[named: "X-Image-Warning"] = problem
        self[.cacheControl] = cacheControl
    }

    /// Excludes caches that several users share from storing the response.
    mutating func excludeSharedCaches() {
        let caching = self[.cacheControl] ?? "no-cache"
        guard !caching.contains("no-store"), !caching.contains("private") else { return }
        self[.cacheControl] =
            caching.contains("public")
            ? caching.replacing("public", with: "private") : "private, \(caching)"
    }

    /// Returns a copy with one field set.
    func with(_ name: HTTPField.Name, _ value: String) -> HTTPFields {
        var fields = self
        fields[name] = value
        return fields
    }
}
