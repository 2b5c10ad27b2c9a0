// SPDX-License-Identifier: Apache-2.0

internal import CMessageDigests

/// The 32 bytes of a SHA-256 digest (FIPS 180-4), or of an HMAC-SHA-256 (RFC 2104), by OpenSSL.
///
/// Two are compared in a time that does not depend on where they differ.
public struct MessageDigest: Sendable, Equatable {
    public let bytes: [UInt8]

    /// Takes a digest that came from elsewhere.
    ///
    /// - Returns: `nil` unless there are 32 bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// The SHA-256 digest of bytes.
    public init(sha256 message: [UInt8]) {
        bytes = unsafe Self.digest { digest in
            unsafe calotype_sha256(message, message.count, digest)
        }
    }

    /// The HMAC-SHA-256 of bytes under a key of any length.
    public init(hmacSHA256 message: [UInt8], key: [UInt8]) {
        bytes = unsafe Self.digest { code in
            unsafe calotype_hmac_sha256(key, key.count, message, message.count, code)
        }
    }

    public static func == (left: Self, right: Self) -> Bool {
        unsafe calotype_are_equal(left.bytes, right.bytes, byteCount)
    }

    /// The bytes as lower-case hexadecimal digits.
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
                preconditionFailure("OpenSSL refuses SHA-256")
            }
            count = byteCount
        }
    }
}
