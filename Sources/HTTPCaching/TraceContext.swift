// SPDX-License-Identifier: Apache-2.0

public import HTTPTypes

/// The distributed trace that a request belongs to.
///
/// It is forwarded unchanged, as W3C Trace Context requires of services that record no spans, and
/// has no effect on loading, coalescing or caching.
public struct TraceContext: Sendable, Hashable {
    /// The maximum length of `tracestate`; a longer one is dropped.
    private static let maximumStateByteCount = 512

    private let parent: String
    private let state: String?

    /// Parses `traceparent` and `tracestate`; returns `nil` without a valid `traceparent` of
    /// version 00.
    public init?(_ fields: HTTPFields) {
        guard let parent = fields.value("traceparent"), Self.isWellFormed(parent) else {
            return nil
        }
        self.parent = parent
        state = fields.value("tracestate").flatMap { Self.isWellFormed(state: $0) ? $0 : nil }
    }

    /// The trace ID, 32 hexadecimal digits.
    public var traceID: Substring { parent.split(separator: "-")[1] }

    /// The fields that are sent to a server.
    var fields: HTTPFields {
        var fields = HTTPFields()
        for (name, value) in [("traceparent", parent), ("tracestate", state)] {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        return fields
    }

    /// Returns whether it consists of version 00, trace ID, parent ID and flags, in lower case.
    private static func isWellFormed(_ parent: String) -> Bool {
        let parts = parent.utf8.split(
            separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.map(\.count) == [2, 32, 16, 2], parts[0].elementsEqual("00".utf8) else {
            return false
        }
        let digits = Set("0123456789abcdef".utf8)
        return parts.joined().allSatisfy(digits.contains)
            && !parts[1...2].contains { $0.allSatisfy { $0 == UInt8(ascii: "0") } }
    }

    private static func isWellFormed(state: String) -> Bool {
        !state.isEmpty && state.utf8.count <= maximumStateByteCount
            && state.utf8.allSatisfy { 0x20...0x7E ~= $0 }
    }
}

extension HTTPFields {
    fileprivate func value(_ name: String) -> String? { HTTPField.Name(name).flatMap { self[$0] } }
}
