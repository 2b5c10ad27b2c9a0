// SPDX-License-Identifier: Apache-2.0

internal import CMessageDigests

/// A SHA-256 digest (FIPS 180-4) or an HMAC-SHA-256 (RFC 2104), computed by OpenSSL.
///
/// Comparison takes constant time.
public struct MessageDigest: Sendable, Equatable {
    /// The 32 bytes of the digest.
    public let bytes: [UInt8]

    /// Creates a digest from its bytes; returns `nil` unless there are 32.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// Computes the SHA-256 digest of a message.
    public init(sha256 message: [UInt8]) {
        bytes = unsafe Self.digest { digest in
            unsafe calotype_sha256(message, message.count, digest)
        }
    }

    /// Computes the HMAC-SHA-256 of a message with a key of any length up to 2³¹ − 1 bytes.
    public init(hmacSHA256 message: [UInt8], key: [UInt8]) {
        bytes = unsafe Self.digest { code in
            unsafe calotype_hmac_sha256(key, key.count, message, message.count, code)
        }
    }

    /// Returns whether both digests are equal, in constant time.
    public static func == (left: Self, right: Self) -> Bool {
        unsafe calotype_are_equal(left.bytes, right.bytes, byteCount)
    }

    /// The digest as 64 lower-case hexadecimal digits.
    public var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    private static let byteCount = Int(CALOTYPE_DIGEST_BYTE_COUNT)

    private static func digest(
        _ compute: (UnsafeMutablePointer<UInt8>) -> Bool
    ) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
            guard let start = buffer.baseAddress, unsafe compute(start) else {
                preconditionFailure("SHA-256 failed: check the policy of OpenSSL")
            }
            count = byteCount
        }
    }
}
