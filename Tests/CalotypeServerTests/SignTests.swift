// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("calotype sign") struct SignTests {
    /// `key` in hexadecimal, and an older key, which must not be used.
    private static let environment = ["CALOTYPE_SIGNATURE_KEYS": "6b6579,00ff"]

    @Test("prints each URL with its HMAC-SHA-256") func signature() async throws {
        let answer = try await BuiltCommand.run(
            ["sign", "/house/1.jpg", "/house/2.jpg"], environment: Self.environment)
        #expect(answer.code == 0, "\(answer.errors)")
        let lines = answer.output.split(separator: "\n")
        #expect(lines.count == 2)
        // From Python's hmac.new(b"key", b"/house/1.jpg", "sha256").
        #expect(
            lines[0] == "/house/1.jpg?signature=bA3zTwqLc81eRmQtI4ns0nGSBLcjBhLMg4M3m8KePpY")
        #expect(lines[1].hasPrefix("/house/2.jpg?signature="))
    }

    @Test("adds the expiry time in seconds") func expiry() async throws {
        let start = Int(Date().timeIntervalSince1970)
        let answer = try await BuiltCommand.run(
            ["sign", "--expires-in", "3600", "/house/1.jpg?v=1"], environment: Self.environment)
        let end = Int(Date().timeIntervalSince1970)
        let parts = answer.output.split(separator: "&")
        #expect(parts.count == 3 && parts[0] == "/house/1.jpg?v=1")
        let expires = try #require(Int(parts[1].dropFirst("expires=".count)))
        #expect((start + 3600...end + 3600).contains(expires))
    }

    @Test("fails without a key") func noKey() async throws {
        for keys in ["", "no hexadecimal"] {
            let answer = try await BuiltCommand.run(
                ["sign", "/house/1.jpg"], environment: ["CALOTYPE_SIGNATURE_KEYS": keys])
            #expect(answer.code == 64)
            #expect(answer.output.isEmpty)
            #expect(answer.errors.contains("CALOTYPE_SIGNATURE_KEYS"))
        }
    }
}
