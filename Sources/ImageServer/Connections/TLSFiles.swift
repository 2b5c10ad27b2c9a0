// SPDX-License-Identifier: Apache-2.0

/// The certificate chain and the private key of a server, in two PEM files.
public struct TLSFiles: Sendable, Hashable {
    /// The path of the file with the server's certificate, followed by the intermediate ones.
    public var certificates: String
    /// The path of the file with the private key.
    public var privateKey: String

    /// Creates a pair of file paths; the files are read when the server starts.
    public init(certificates: String, privateKey: String) {
        self.certificates = certificates
        self.privateKey = privateKey
    }

    /// Checks both files.
    ///
    /// - Throws: ``ServerError/badCertificate(path:reason:)`` for an unreadable or invalid file, a key that
    ///   does not match the certificate, or any file without the trait `HTTPS`.
    func check() throws(ServerError) {
        #if HTTPS
        _ = try read()
        #else
        throw .badCertificate(
            path: certificates,
            reason: "this build does not serve HTTPS; build with the trait HTTPS")
        #endif
    }
}
