// SPDX-License-Identifier: Apache-2.0

public import MessageDigests
internal import EncodedImages
internal import HTTPTypes

/// Which clients may see the images: those with the password, those that a proxy has authenticated, and
/// those with a link to a folder or to a selection of images.
///
/// A permission is a signed text in a cookie. It is valid until its end, for the password at the time of its
/// signature: nothing is stored but the paths of selections.
public struct AccessControl: Sendable {
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

    /// Returns the permission of a request; `nil` for none.
    func permission(_ headers: HTTPFields, now: Int = HTTPDate.now.seconds) -> Permission? {
        if let userHeader, headers[userHeader]?.isEmpty == false { return .everything }
        // A client may send several cookies of the name, such as of another path.
        let permissions = headers[values: .cookie].flatMap { $0.split(separator: ";") }
            .compactMap { cookie -> Permission? in
                let text = cookie.drop { $0 == " " }
                let prefix = Self.cookieName + "="
                guard text.hasPrefix(prefix) else { return nil }
                return permission(ofToken: String(text.dropFirst(prefix.count)), now: now)
            }
        return permissions.first { $0 == .everything } ?? permissions.first
    }

    /// Returns a permission as a signed text of URL-safe characters.
    func token(_ permission: Permission, expires: Int) -> String {
        var text = "\(expires)"
        switch permission {
        case .everything: break
        case .folder(let folder):
            text += "/" + folder.names.map(\.wrappedValue).joined(separator: "/")
        // No folder has an empty name.
        case .images(let images): text += "//" + images.id
        }
        let code = MessageDigest(hmacSHA256: Array(text.utf8), key: key)
        return PathSignature.text(Array(text.utf8)) + "." + PathSignature.text(code.bytes)
    }

    /// Returns the permission in a signed text, without the images of a selection; `nil` if it is forged or
    /// has expired.
    func permission(ofToken token: String, now: Int = HTTPDate.now.seconds) -> Permission? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard token.utf8.count <= 4_096, parts.count == 2,
            let bytes = PathSignature.bytes(parts[0]),
            let code = PathSignature.bytes(parts[1]).flatMap(MessageDigest.init(bytes:)),
            code == MessageDigest(hmacSHA256: bytes, key: key),
            let text = String(validating: bytes, as: UTF8.self)
        else { return nil }
        let names = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard let expires = names.first.flatMap({ Int($0) }), now < expires else { return nil }
        if names.count == 1 { return .everything }
        if names.count == 3, names[1].isEmpty { return .images(Permission.SharedImages(names[2])) }
        return Permission.SharedFolder(Array(names.dropFirst())).map { .folder($0) }
    }

    /// Makes the value of `Set-Cookie` for a token.
    ///
    /// - Parameters:
    ///   - token: the signed permission; empty to remove the cookie.
    ///   - seconds: the time for which the browser keeps it.
    ///   - isSecure: whether the browser may send it over HTTPS only.
    /// - Returns: the cookie with its attributes.
    static func cookie(_ token: String, seconds: Int, isSecure: Bool) -> String {
        "\(cookieName)=\(token); Path=/; Max-Age=\(seconds); HttpOnly; SameSite=Lax"
            + (isSecure ? "; Secure" : "")
    }
}
