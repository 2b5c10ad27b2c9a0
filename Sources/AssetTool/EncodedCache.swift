// SPDX-License-Identifier: Apache-2.0

internal import AssetCatalogs
internal import EncodedImages
internal import FoundationEssentials
internal import ImageCommands
internal import MessageDigests

/// Encoded sources in a folder, so that unchanged files are not encoded again.
///
/// The name of an entry is the digest of the file, of the settings and of the version of this program. An
/// entry that cannot be read is made again.
struct EncodedCache: Sendable {
    let folder: String

    /// Returns the content of a source, from the folder if it is there.
    ///
    /// - Parameters:
    ///   - source: the source.
    ///   - bytes: its bytes, which are those that the result is stored for.
    ///   - compiler: encodes the source.
    /// - Returns: the content.
    /// - Throws: `AssetCatalogError`.
    func encoded(
        _ source: CatalogCompiler.Source, _ bytes: EncodedBytes, _ compiler: CatalogCompiler
    ) throws(AssetCatalogError) -> CatalogCompiler.Encoded {
        let key = Array("\(calotypeVersion)\n\(compiler.settings(for: source))\n".utf8)
        let digest = MessageDigest(sha256: key + bytes.copy(of: 0..<bytes.count))
        let path = "\(folder)/\(digest.hexadecimal)"
        if let entry = try? EncodedBytes(reading: path),
            let encoded = try? PropertyListDecoder().decode(
                CatalogCompiler.Encoded.self, from: Data(entry.copy(of: 0..<entry.count)))
        {
            return encoded
        }
        let encoded = try compiler.encode(source, bytes)
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        if let entry = try? encoder.encode(encoded) {
            // A cache that cannot be written only costs time.
            try? ImageDestination.write(Array(entry), to: path)
        }
        return encoded
    }
}
