// SPDX-License-Identifier: Apache-2.0

public import EncodedImages
internal import Pixels

/// Compiles the folder of a catalog into one file for ``CompiledCatalog``.
///
/// The caller encodes the ``sources``, in any order and on any number of threads, and passes the results
/// to ``file(_:)``. The same catalog and options give the same bytes.
public struct CatalogCompiler: Sendable {
    /// What matters most where an image can be stored in several ways.
    public enum Preference: String, CaseIterable, Sendable {
        /// Small images are stored so that no codec is needed.
        case speed
        /// The smallest way.
        case size
    }

    /// The options of a compilation.
    public struct Options: Sendable {
        /// The devices that use the file; slots that none of them selects are removed.
        ///
        /// All slots are kept if it is empty. A trait that is `nil` may have any value.
        public var devices: [AssetTraits] = []
        /// What matters most where an image can be stored in several ways.
        public var preference = Preference.speed
        /// The similarity of photographs that are stored with loss; see `EncodeOptions/targetSSIM`.
        public var targetSSIM = 0.98
        /// The scales for which vectors are drawn, if the slot and the devices leave them open.
        public var scales = [1, 2, 3]

        /// The default options.
        public init() {}
    }

    /// A file of a slot.
    public struct Source: Hashable, Sendable {
        /// The path of the file.
        @ComparedByBytes public var path: String
        let asset: Int
        let slot: Int
        let scales: [Int]
    }

    /// The content of a source as it is stored.
    public struct Encoded: Codable, Sendable {
        let stored: StoredSlot
        let sourceByteCount: Int
        let reason: String
    }

    /// How the content of a source was stored.
    public struct Entry: Sendable {
        /// The asset.
        public let key: Asset.Key
        /// The path of the source.
        public let path: String
        /// The size of the source in bytes.
        public let sourceByteCount: Int
        /// The stored bytes, including rasters; 0 if equal content was stored before.
        public let storedByteCount: Int
        /// `pixels`, `mask`, `palette`, `image` or `file`, or `rasters` of vectors.
        public let compression: String
        /// Why, in English.
        public let reason: String
    }

    /// The files of the slots that are kept.
    public let sources: [Source]
    let assets: [Asset]
    private let kept: [[Int]]
    private let options: Options
    private let codecs: CodecSet

    /// Selects the slots of a catalog.
    ///
    /// - Parameters:
    ///   - catalog: the folder.
    ///   - options: the options.
    ///   - codecs: decode the images and encode them.
    public init(_ catalog: AssetCatalog, options: Options = Options(), codecs: CodecSet) {
        self.options = options
        self.codecs = codecs
        assets = catalog.assets.sorted { $0.key.precedes($1.key) }
        kept = assets.map { Thinning(devices: options.devices).keptSlots(of: $0) }
        var sources: [Source] = []
        for (index, asset) in assets.enumerated() {
            for slot in kept[index] {
                guard case .file(let name) = asset.slots[slot].content else { continue }
                sources.append(
                    Source(
                        path: "\(asset.path)/\(name)", asset: index, slot: slot,
                        scales: Self.scales(of: asset, slot, options)))
            }
        }
        self.sources = sources
    }

    /// The scales for which vectors in a slot are drawn: none that another slot with the same traits has.
    private static func scales(of asset: Asset, _ slot: Int, _ options: Options) -> [Int] {
        let traits = asset.slots[slot].traits
        if let scale = traits.scale { return [scale] }
        let fixed = Set(options.devices.compactMap(\.scale)).sorted()
        let scales =
            options.devices.isEmpty || options.devices.contains { $0.scale == nil }
            ? options.scales : fixed
        return scales.filter { scale in
            var other = traits
            other.scale = scale
            return !asset.slots.contains { $0.content != .empty && $0.traits == other }
        }
    }

    /// Returns a text of everything that determines the result of ``encode(_:)``, except the bytes of the
    /// file and the versions of the codecs.
    public func settings(for source: Source) -> String {
        let asset = assets[source.asset]
        let formats = codecs.codecs.map(\.format.name).sorted().joined(separator: ",")
        return [
            "\(asset.key.kind)", asset.compressionType ?? "", "\(asset.preservesVectors)",
            "\(source.scales)", options.preference.rawValue, "\(options.targetSSIM)", formats,
        ].joined(separator: "\n")
    }

    /// Reads a source.
    ///
    /// - Throws: ``AssetCatalogError/unreadable(path:reason:)``.
    public func read(_ source: Source) throws(AssetCatalogError) -> EncodedBytes {
        do throws(CodecError) {
            return try EncodedBytes(reading: source.path)
        } catch {
            throw .unreadable(path: source.path, reason: "\(error)")
        }
    }

    /// Reads and encodes a source.
    ///
    /// - Throws: ``AssetCatalogError``.
    public func encode(_ source: Source) throws(AssetCatalogError) -> Encoded {
        try encode(source, try read(source))
    }

    /// Encodes the bytes of a source.
    ///
    /// - Throws: ``AssetCatalogError``.
    public func encode(
        _ source: Source, _ bytes: EncodedBytes
    ) throws(AssetCatalogError) -> Encoded {
        let asset = assets[source.asset]
        let file = StoredBlob(kind: .file, bytes: bytes.copy(of: 0..<bytes.count))
        guard asset.key.kind == .image || asset.key.kind == .appIcon else {
            return Encoded(
                stored: StoredSlot(file: file), sourceByteCount: bytes.count,
                reason: "not an image")
        }
        do throws(CodecError) {
            let image = try ImageSource(bytes, codecs: codecs)
            if image.header.isScalable { return try vectors(image, file, source, asset) }
            return try raster(image, file, asset)
        } catch {
            guard let format = error.missingVectors(bytes) else {
                throw .image(path: source.path, reason: error)
            }
            return Encoded(
                stored: StoredSlot(file: file), sourceByteCount: bytes.count,
                reason: "vectors that this program cannot draw: \(format)")
        }
    }

    private func raster(
        _ source: ImageSource, _ file: StoredBlob, _ asset: Asset
    ) throws(CodecError) -> Encoded {
        var kept = file
        kept.kind = .image
        kept.size = source.pixelSize
        let header = source.header
        var reason: String?
        if header.bitsPerComponent > 8 { reason = "\(header.bitsPerComponent) bits per component" }
        if !header.colorProfile.isSRGB { reason = "colours outside sRGB" }
        if header.frameCount > 1 { reason = "\(header.frameCount) frames" }
        let isLossy = source.format.name == "jpeg"
        if isLossy { reason = "a file with loss already" }
        if let reason {
            // An image that cannot be decoded is reported now, and not when it is displayed.
            _ = try source.image()
            return Encoded(
                stored: StoredSlot(file: kept), sourceByteCount: file.bytes.count, reason: reason)
        }
        var decoding = DecodeOptions()
        decoding.acceptsTruncated = false
        let choice = try ContentCoding(codecs: codecs, options: options).choice(
            try source.image(decoding), source: file.bytes,
            allowsLoss: ["lossy", "automatic"].contains(asset.compressionType))
        return Encoded(
            stored: StoredSlot(file: choice.blob), sourceByteCount: file.bytes.count,
            reason: choice.reason)
    }

    private func vectors(
        _ image: ImageSource, _ file: StoredBlob, _ source: Source, _ asset: Asset
    ) throws(CodecError) -> Encoded {
        var stored = StoredSlot()
        for scale in source.scales {
            var decoding = DecodeOptions()
            decoding.box = PixelSize(
                width: image.pixelSize.width * scale, height: image.pixelSize.height * scale)
            decoding.allowsEnlarging = true
            let pixels = try image.image(decoding)
            let choice = try ContentCoding(codecs: codecs, options: options).choice(
                pixels, source: nil, allowsLoss: false)
            stored.rasters.append(StoredRaster(scale: scale, blob: choice.blob))
        }
        if asset.preservesVectors || stored.rasters.isEmpty { stored.file = file }
        let scales = source.scales.map { "\($0)x" }.joined(separator: ", ")
        return Encoded(
            stored: stored, sourceByteCount: file.bytes.count,
            reason: "vectors\(stored.file == nil ? "" : " that are kept")"
                + (scales.isEmpty ? "" : ", drawn for \(scales)"))
    }

    /// Joins the encoded sources to a file.
    ///
    /// - Parameter encoded: for each of the ``sources``, its content; `nil` leaves out its slot.
    /// - Returns: the file, and how each source was stored.
    /// - Throws: ``AssetCatalogError/limitExceeded(path:reason:)``.
    public func file(
        _ encoded: [Encoded?]
    ) throws(AssetCatalogError) -> (bytes: [UInt8], entries: [Entry]) {
        precondition(encoded.count == sources.count, "one result for each source is required")
        var contents: [[Int: Encoded]] = Array(repeating: [:], count: assets.count)
        for (source, encoded) in zip(sources, encoded) {
            contents[source.asset][source.slot] = encoded
        }
        var writer = CompiledWriter()
        var entries: [Entry] = []
        for (index, asset) in assets.enumerated() {
            let stored = kept[index].filter { slot in
                guard case .file = asset.slots[slot].content else { return true }
                return contents[index][slot] != nil
            }
            let byteCounts = try writer.add(
                asset, stored.map { (asset.slots[$0], contents[index][$0]?.stored ?? .init()) })
            for (slot, byteCount) in zip(stored, byteCounts) {
                guard case .file(let name) = asset.slots[slot].content,
                    let content = contents[index][slot]
                else { continue }
                entries.append(
                    Entry(
                        key: asset.key, path: "\(asset.path)/\(name)",
                        sourceByteCount: content.sourceByteCount, storedByteCount: byteCount,
                        compression: content.stored.file.map { "\($0.kind)" } ?? "rasters",
                        reason: content.reason))
            }
        }
        return (writer.file(assets.map(\.key)), entries)
    }
}

extension CodecError {
    /// Returns the format of vectors for which this program has no codec, in capitals.
    ///
    /// - Parameter bytes: the file that is not decoded for this reason.
    /// - Returns: `nil` if the error has another reason.
    package func missingVectors(_ bytes: EncodedBytes) -> String? {
        switch self {
        case .notBuiltIn(let format, _) where ["svg", "pdf"].contains(format):
            return format.uppercased()
        case .unknownFormat:
            let start = bytes.copy(of: 0..<min(bytes.count, 4_096))
            if start.starts(with: Array("%PDF-".utf8)) { return "PDF" }
            // Text precedes the root element, so that the format is unknown without its codec.
            let isSVG = start.first == UInt8(ascii: "<") && start.contains(Array("<svg".utf8))
            return isSVG ? "SVG" : nil
        default: return nil
        }
    }
}
