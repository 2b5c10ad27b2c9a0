// SPDX-License-Identifier: Apache-2.0

public import MessageDigests
internal import HTTPTypes

/// Which clients may see the images: those with the password, those that a proxy has authenticated, and
/// those with a link to a folder or to a selection of images.
///
/// A credential is a signed text in a cookie. It is valid until its end, for the password at the time of its
/// signature, and that of a link as long as `SharedLinks` has the link: logins are not stored.
public struct AccessControl: Sendable {
    /// Whom a client has been signed to be.
    enum Credential: Hashable, Sendable {
        /// A user who sees everything.
        case login
        /// A guest with the link of a name.
        case link(String)
    }

    /// The hash of the password; `nil` for no login.
    let password: PasswordHash?
    /// The header field with the name of the user that a proxy has authenticated.
    let userHeader: HTTPField.Name?
    private let key: [UInt8]

    static let cookieName = "calotype"
    /// The time for which a login is valid, in seconds.
    static let loginDuration = 30 * 86_400
    /// The times for which a link may be valid, in days.
    static let shareDays = 1...3_650

    /// - Parameters:
    ///   - password: the hash of the password; `nil` for no login.
    ///   - userHeader: the name of the header field with the user that a proxy has authenticated; `nil` for none.
    ///   - secret: at least 32 random bytes, which stay the same over restarts.
    public init?(password: PasswordHash?, userHeader: String?, secret: [UInt8]) {
        guard secret.count >= 32 else { return nil }
        self.password = password
        if let userHeader {
            guard let name = HTTPField.Name(userHeader) else { return nil }
            self.userHeader = name
        } else {
            self.userHeader = nil
        }
        // Another password ends all logins and links.
        key = MessageDigest(hmacSHA256: Array((password?.text ?? "").utf8), key: secret).bytes
    }

    /// Returns the credential of a request; `nil` for none.
    func credential(_ headers: HTTPFields, now: Int = HTTPDate.now.seconds) -> Credential? {
        if let userHeader, headers[userHeader]?.isEmpty == false { return .login }
        // A client may send several cookies of the name, such as of another path.
        let credentials = headers[values: .cookie].flatMap { $0.split(separator: ";") }
            .compactMap { cookie -> Credential? in
                let text = cookie.drop { $0 == " " }
                let prefix = Self.cookieName + "="
                guard text.hasPrefix(prefix) else { return nil }
                return credential(ofToken: String(text.dropFirst(prefix.count)), now: now)
            }
        return credentials.first { $0 == .login } ?? credentials.first
    }

    /// Returns a credential as a signed text of URL-safe characters.
    func token(_ credential: Credential, expires: Int) -> String {
        var text = "\(expires)"
        if case .link(let id) = credential { text += "/" + id }
        let code = MessageDigest(hmacSHA256: Array(text.utf8), key: key)
        return PathSignature.text(Array(text.utf8)) + "." + PathSignature.text(code.bytes)
    }

    /// Returns the credential in a signed text; `nil` if it is forged or has expired.
    func credential(ofToken token: String, now: Int = HTTPDate.now.seconds) -> Credential? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard token.utf8.count <= 4_096, parts.count == 2,
            let bytes = PathSignature.bytes(parts[0]),
            let code = PathSignature.bytes(parts[1]).flatMap(MessageDigest.init(bytes:)),
            code == MessageDigest(hmacSHA256: bytes, key: key),
            let text = String(validating: bytes, as: UTF8.self)
        else { return nil }
        let fields = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let expires = fields.first.flatMap({ Int($0) }), now < expires else { return nil }
        switch fields.count {
        case 1: return .login
        case 2: return .link(String(fields[1]))
        default: return nil
        }
    }

    /// Makes the value of `Set-Cookie` for a token.
    ///
    /// - Parameters:
    ///   - token: the signed credential; empty to remove the cookie.
    ///   - seconds: the time for which the browser keeps it.
    ///   - isSecure: whether the browser may send it over HTTPS only.
    /// - Returns: the cookie with its attributes.
    static func cookie(_ token: String, seconds: Int, isSecure: Bool) -> String {
        "\(cookieName)=\(token); Path=/; Max-Age=\(seconds); HttpOnly; SameSite=Lax"
            + (isSecure ? "; Secure" : "")
    }
}
