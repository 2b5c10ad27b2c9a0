// SPDX-License-Identifier: Apache-2.0

import MessageDigests
import Testing

@Suite("Message digests")
struct MessageDigestTests {
    @Test(
        "SHA-256 matches the examples of FIPS 180-4",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (
                String(repeating: "a", count: 1_000_000),
                "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
            ),
        ])
    func sha256(message: String, expected: String) {
        #expect(MessageDigest(sha256: Array(message.utf8)).hexadecimal == expected)
    }

    /// Test cases 1, 2, 3 and 6 of RFC 4231: keys shorter than a block, a short message, and a key
    /// longer than a block.
    @Test(
        "HMAC-SHA-256 matches the test cases of RFC 4231",
        arguments: [
            (
                [UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8),
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                [UInt8](repeating: 0xAA, count: 20), [UInt8](repeating: 0xDD, count: 50),
                "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
            ),
            (
                [UInt8](repeating: 0xAA, count: 131),
                Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
        ])
    func hmac(key: [UInt8], message: [UInt8], expected: String) {
        #expect(MessageDigest(hmacSHA256: message, key: key).hexadecimal == expected)
    }

    @Test("HMAC-SHA-256 accepts an empty key and an empty message")
    func empty() {
        // From Python's `hmac.new(b"", b"", "sha256")`.
        #expect(
            MessageDigest(hmacSHA256: [], key: []).hexadecimal
                == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
    }

    @Test("digests have 32 bytes and are equal only if all bytes are")
    func equality() throws {
        let digest = MessageDigest(sha256: [1])
        #expect(try #require(MessageDigest(bytes: digest.bytes)) == digest)
        for index in 0..<32 {
            var bytes = digest.bytes
            bytes[index] ^= 1
            #expect(try #require(MessageDigest(bytes: bytes)) != digest)
        }
        #expect(MessageDigest(bytes: Array(digest.bytes.dropLast())) == nil)
        #expect(MessageDigest(bytes: digest.bytes + [0]) == nil)
    }
}
