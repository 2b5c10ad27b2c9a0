// SPDX-License-Identifier: Apache-2.0

internal import CMessageDigests

/// The hash of a password as in crypt(5), such as `$y$j9T$…` for yescrypt.
public struct PasswordHash: Sendable {
    /// The hash with its method, parameters and salt.
    public let text: String

    /// Hashes a password with yescrypt and a new salt; takes tens of milliseconds.
    ///
    /// Fails if the password is empty or contains NUL.
    public init?(hashing password: String) {
        guard !password.isEmpty, let text = Self.hash(password, setting: nil) else { return nil }
        self.text = text
    }

    /// Reads a hash; fails if its method is unknown or too weak.
    public init?(_ text: String) {
        // Methods of another form than `$id$` are those of the last century, as are the first two.
        guard text.hasPrefix("$"), !text.hasPrefix("$1$"), !text.hasPrefix("$3$"),
            // A setting without a hash is shorter than the hashes with it.
            Self.hash("", setting: text)?.utf8.count == text.utf8.count
        else { return nil }
        self.text = text
    }

    /// Whether a password has the hash; takes tens of milliseconds.
    public func matches(_ password: String) -> Bool {
        guard let other = Self.hash(password, setting: text) else { return false }
        return MessageDigest(sha256: Array(other.utf8)) == MessageDigest(sha256: Array(text.utf8))
    }

    private static func hash(_ password: String, setting: String?) -> String? {
        guard !password.utf8.contains(0) else { return nil }
        var buffer = [CChar](repeating: 0, count: Int(CALOTYPE_PASSWORD_HASH_BYTE_COUNT))
        let isHash =
            if let setting {
                unsafe calotype_hash_password(password, setting, &buffer)
            } else {
                unsafe calotype_hash_password(password, nil, &buffer)
            }
        guard isHash else { return nil }
        return String(
            decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
