// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Glibc
internal import ImageCommands
internal import ImageServer
internal import MessageDigests

extension ServingArguments {
    /// Reads the settings of who may see the images.
    ///
    /// - Parameter folder: the folder of the cache, for the key of the cookies.
    /// - Returns: the rules; `nil` to show the images to everyone.
    /// - Throws: ``FileFailure`` if the password or the key cannot be read, or an option is invalid.
    func accessControl(cacheFolder folder: String) throws(FileFailure) -> AccessControl? {
        guard passwordFile != nil || userHeader != nil else { return nil }
        let hash = try passwordHash()
        let secret = try Self.secret(at: "\(folder)/access.key")
        guard
            let access = AccessControl(password: hash, userHeader: userHeader, secret: secret)
        else {
            throw FileFailure(userHeader ?? "", "not the name of a header field (--user-header)")
        }
        return access
    }

    /// Reads the hash of the password.
    ///
    /// - Returns: the hash; `nil` without a file.
    /// - Throws: ``FileFailure`` if the file cannot be read, or contains something else.
    func passwordHash() throws(FileFailure) -> PasswordHash? {
        guard let passwordFile else { return nil }
        let text = String(decoding: try Self.bytes(of: passwordFile), as: UTF8.self)
        guard let hash = PasswordHash(String(text.prefix { !$0.isNewline })) else {
            throw FileFailure(
                passwordFile, "not the hash of a password; calotype password prints one")
        }
        return hash
    }

    /// Reads the key of the cookies, or makes one.
    private static func secret(at path: String) throws(FileFailure) -> [UInt8] {
        if let known = try? bytes(of: path), known.count == 32 { return known }
        let secret = (0..<32).map { _ in UInt8.random(in: 0...255) }
        let descriptor = unsafe open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw FileFailure(path, systemError(errno))
        }
        defer { close(descriptor) }
        if let error = writeAll(secret, to: descriptor) { throw FileFailure(path, error) }
        return secret
    }

    private static func bytes(of path: String) throws(FileFailure) -> [UInt8] {
        do throws(CodecError) {
            let file = try EncodedBytes(reading: path, first: 4_096, limits: DecodeLimits())
            return file.withBytes { bytes in (0..<bytes.count).map { bytes[$0] } }
        } catch {
            throw FileFailure(path, error)
        }
    }
}
