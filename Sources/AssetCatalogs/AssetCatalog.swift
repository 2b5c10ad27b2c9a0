// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The named assets of a folder `Assets.xcassets`.
///
/// Only the files `Contents.json` are read; those of the slots are opened by the caller.
public struct AssetCatalog: Sendable {
    /// The assets, sorted by their path.
    public let assets: [Asset]
    private let indices: [Asset.Key: Int]

    /// Reads a catalog.
    ///
    /// Symbolic links are not followed.
    ///
    /// - Parameter folder: the path of the folder.
    /// - Throws: ``AssetCatalogError``, which contains the path of the file.
    public init(folder: String) throws(AssetCatalogError) {
        var reader = CatalogReader()
        try reader.readGroup(folder, namespace: "", depth: 0)
        var indices: [Asset.Key: Int] = [:]
        for (index, asset) in reader.assets.enumerated() {
            if let other = indices.updateValue(index, forKey: asset.key) {
                throw .duplicateName(path: asset.path, other: reader.assets[other].path)
            }
        }
        assets = reader.assets
        self.indices = indices
    }

    /// Returns the asset with a kind and a name.
    ///
    /// - Returns: The asset; `nil` if the catalog does not contain it.
    public subscript(kind: Asset.Kind, name: String) -> Asset? {
        indices[Asset.Key(kind, name)].map { assets[$0] }
    }
}

/// Reads the folders of a catalog, with limits on what a hostile one contains.
private struct CatalogReader {
    private static let maximumDepth = 32
    private static let maximumAssetCount = 1_000_000
    private static let maximumContentsByteCount = 4 << 20

    var assets: [Asset] = []

    mutating func readGroup(
        _ path: String, namespace: String, depth: Int
    ) throws(AssetCatalogError) {
        guard depth <= Self.maximumDepth else {
            throw .limitExceeded(path: path, reason: "\(Self.maximumDepth) nested groups")
        }
        var names: [String] = []
        let isOpened = FolderEntry.forEach(in: path) { entry in
            switch entry.kind {
            case .folder: names.append(entry.name)
            // Only a folder has one of these extensions.
            case .unknown where AssetKindName(entry.name) != nil: names.append(entry.name)
            default: break
            }
        }
        guard isOpened else { throw .unreadable(path: path, reason: "not a readable folder") }
        for name in names.sorted() {
            let child = "\(path)/\(name)"
            if let kind = AssetKindName(name) {
                try readSet(child, kind, namespace)
            } else {
                try readGroup(
                    child, namespace: namespace + Self.namespace(of: child, name),
                    depth: depth + 1)
            }
        }
    }

    private static func namespace(
        of path: String, _ name: String
    ) throws(AssetCatalogError) -> String {
        var hasContents = false
        _ = FolderEntry.forEach(in: path) { if $0.name == "Contents.json" { hasContents = true } }
        guard hasContents, try contents(path).properties?.providesNamespace == true else {
            return ""
        }
        return AssetKindName.stem(name) + "/"
    }

    private mutating func readSet(
        _ path: String, _ kind: AssetKindName, _ namespace: String
    ) throws(AssetCatalogError) {
        guard assets.count < Self.maximumAssetCount else {
            throw .limitExceeded(path: path, reason: "\(Self.maximumAssetCount) assets")
        }
        // Sets of other kinds have contents of other shapes.
        let contents =
            if case .other = kind.kind { CatalogContents() } else { try Self.contents(path) }
        let intent = contents.properties?.renderingIntent
        assets.append(
            Asset(
                key: Asset.Key(kind.kind, namespace + kind.name), path: path,
                slots: try contents.slots(path: path + "/Contents.json"),
                renderingMode: intent.flatMap { Asset.RenderingMode(rawValue: $0) },
                preservesVectors: contents.properties?.preservesVectors ?? false,
                compressionType: contents.properties?.compressionType))
    }

    private static func contents(_ folder: String) throws(AssetCatalogError) -> CatalogContents {
        let path = folder + "/Contents.json"
        let bytes: EncodedBytes
        do {
            var limits = DecodeLimits()
            limits.maximumByteCount = maximumContentsByteCount
            bytes = try EncodedBytes(reading: path, limits: limits)
        } catch {
            throw .unreadable(path: path, reason: "\(error)")
        }
        do {
            return try JSONDecoder().decode(
                CatalogContents.self, from: Data(bytes.copy(of: 0..<bytes.count)))
        } catch let error as DecodingError {
            throw .malformed(path: path, reason: Self.reason(error))
        } catch {
            throw .malformed(path: path, reason: "\(error)")
        }
    }

    /// The position in the file and the reason, without the representation of Swift.
    private static func reason(_ error: DecodingError) -> String {
        let context: DecodingError.Context
        switch error {
        case .typeMismatch(_, let described), .valueNotFound(_, let described),
            .keyNotFound(_, let described), .dataCorrupted(let described):
            context = described
        @unknown default: return "invalid JSON"
        }
        let keys = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }
        return (keys.isEmpty ? "" : keys.joined(separator: ".") + ": ") + context.debugDescription
    }
}

/// The name of the folder of a set, which ends with the extension of its kind.
private struct AssetKindName {
    let name: String
    let kind: Asset.Kind

    /// Fails for the folder of a group.
    init?(_ folder: String) {
        guard let dot = folder.lastIndex(of: "."), dot != folder.startIndex else { return nil }
        let kinds: [String: Asset.Kind] = [
            "imageset": .image, "appiconset": .appIcon, "colorset": .color, "dataset": .data,
            "symbolset": .symbol,
        ]
        let listed: Set = [
            "launchimage", "iconset", "brandassets", "textureset", "mipmapset", "cubetextureset",
            "imagestack", "imagestacklayer", "solidimagestack", "stickerpack", "stickersequence",
            "sticker", "complicationset", "arresourcegroup", "gcleaderboard", "gcdashboardimage",
        ]
        let ending = String(folder[folder.index(after: dot)...])
        guard let kind = kinds[ending] ?? (listed.contains(ending) ? .other(ending) : nil) else {
            return nil
        }
        name = String(folder[..<dot])
        self.kind = kind
    }

    /// The name of a group; a sprite atlas is one with an extension.
    static func stem(_ folder: String) -> String {
        let ending = ".spriteatlas"
        return folder.hasSuffix(ending) ? String(folder.dropLast(ending.count)) : folder
    }
}
