// SPDX-License-Identifier: Apache-2.0

public import EncodedImages
public import Pixels

/// A file `Assets.car`, which Apple's compiler makes of an asset catalog.
///
/// Images are read that are stored as ARGB, uncompressed or with LZFSE, alone or in sheets, and the files of
/// vectors. Other codings are errors that name them.
public struct CarFile: Sendable {
    /// The path of the file.
    public let path: String
    /// The variants of all assets, in the order of the file, without sheets.
    public let renditions: [CarRendition]
    private let sheets: [[Int]: CarRendition]
    /// The indices of the renditions of each asset.
    private let indices: [ComparedByBytes: [Int]]
    private let keyFormat: [Int]
    private let bytes: EncodedBytes

    /// Reads the tables of a file.
    ///
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - path: the path for errors.
    /// - Throws: ``AssetCatalogError``.
    public init(_ bytes: EncodedBytes, path: String) throws(AssetCatalogError) {
        self.path = path
        self.bytes = bytes
        do throws(CompiledDamage) {
            let tables = try bytes.withBytes { file throws(CompiledDamage) in
                try CarTables(file)
            }
            keyFormat = tables.keyFormat
            let renditions = tables.renditions.filter { !$0.isSheet }
            self.renditions = renditions
            indices = Dictionary(grouping: renditions.indices) {
                ComparedByBytes(renditions[$0].name)
            }
            sheets = Dictionary(
                tables.renditions.filter(\.isSheet).map { ($0.key, $0) },
                uniquingKeysWith: { first, _ in first })
        } catch {
            throw .malformed(path: path, reason: error.reason)
        }
    }

    /// Whether bytes begin like a file of Apple's compiler.
    public static func isCar(_ bytes: EncodedBytes) -> Bool {
        bytes.withBytes { file in
            file.count >= 8 && BOMStore.magic.indices.allSatisfy { file[$0] == BOMStore.magic[$0] }
        }
    }

    /// The assets, sorted by name.
    ///
    /// A slot has the name of the file that was compiled. The vectors of a file and the images that were
    /// drawn of them are slots of their own.
    public var assets: [Asset] {
        indices.map { name, indices in
            let members = indices.map { renditions[$0] }
            return Asset(
                key: Asset.Key(.image, name.wrappedValue), path: name.wrappedValue,
                slots: members.map(\.slot),
                renderingMode: members.compactMap(\.renderingMode).first,
                preservesVectors: members.contains(where: \.isVector), compressionType: nil)
        }
        .sorted { $0.key.precedes($1.key) }
    }

    /// Returns the renditions of an asset, in the order of its slots; takes time for those only.
    public func renditions(of key: Asset.Key) -> [CarRendition] {
        guard key.kind == .image else { return [] }
        return indices[ComparedByBytes(key.name), default: []].map { renditions[$0] }
    }

    /// Returns the file of vectors.
    ///
    /// - Returns: `nil` if the rendition is an image.
    public func data(of rendition: CarRendition) -> [UInt8]? {
        // The content starts with a tag, a version and a length.
        guard rendition.isVector, rendition.content.count >= 12 else { return nil }
        let range = rendition.content
        let count = bytes.withBytes { $0.littleEndian(at: range.lowerBound + 8, byteCount: 4) }
        guard count <= range.count - 12 else { return nil }
        return bytes.copy(of: range.lowerBound + 12..<range.lowerBound + 12 + count)
    }

    /// Returns the pixels of an image, which for a sliced image are those of its parts.
    ///
    /// - Parameters:
    ///   - rendition: a rendition of this file.
    ///   - limits: the limits on the image.
    /// - Returns: the pixels.
    /// - Throws: ``AssetCatalogError``.
    public func image(
        of rendition: CarRendition, limits: DecodeLimits = DecodeLimits()
    ) throws(AssetCatalogError) -> PixelBuffer {
        guard let link = rendition.link else { return try storedImage(rendition, limits) }
        let key = keyFormat.map { link.attributes[$0] ?? 0 }
        guard let sheet = sheets[key] else {
            throw .malformed(path: path, reason: "\(rendition.fileName): its sheet is missing")
        }
        let (size, sheetSize) = (rendition.pixelSize, sheet.pixelSize)
        guard !size.isEmpty, size.width <= sheetSize.width, size.height <= sheetSize.height,
            link.x <= sheetSize.width - size.width, link.y <= sheetSize.height - size.height
        else {
            throw .malformed(path: path, reason: "\(rendition.fileName): outside its sheet")
        }
        return try storedImage(sheet, limits).cut(
            PixelRect(
                x: link.x, y: sheetSize.height - link.y - size.height, width: size.width,
                height: size.height))
    }

    /// Decodes a rendition with pixels of its own.
    private func storedImage(
        _ rendition: CarRendition, _ limits: DecodeLimits
    ) throws(AssetCatalogError) -> PixelBuffer {
        let size = rendition.pixelSize
        do throws(CodecError) {
            try limits.check(size)
            // The rows of the file and those of the image are in memory together.
            try limits.check(
                .memoryByteCount,
                rendition.bytesPerRow * size.height + PixelBuffer.byteCount(of: size, .rgba8))
        } catch {
            throw .image(path: path, reason: error)
        }
        guard rendition.format == "ARGB" else {
            throw .unsupported(
                path: path,
                feature: "\(rendition.fileName): pixels of the format "
                    + "“\(rendition.format)”")
        }
        guard rendition.colorSpace == 1 else {
            throw .unsupported(
                path: path,
                feature: "\(rendition.fileName): the colour space \(rendition.colorSpace)")
        }
        guard !size.isEmpty, rendition.bytesPerRow >= size.width * 4,
            rendition.bytesPerRow <= size.width * 4 + 4_096
        else { throw .malformed(path: path, reason: "\(rendition.fileName): invalid rows") }
        do throws(CarPixels.Failure) {
            return try bytes.withBytes { file throws(CarPixels.Failure) in
                try CarPixels(rendition).image(file)
            }
        } catch {
            switch error {
            case .malformed(let reason):
                throw .malformed(path: path, reason: "\(rendition.fileName): \(reason)")
            case .unsupported(let feature):
                throw .unsupported(path: path, feature: "\(rendition.fileName): \(feature)")
            }
        }
    }
}

extension CarRendition {
    /// The slot that an asset of the folder would have.
    fileprivate var slot: AssetSlot {
        AssetSlot(
            traits: traits, content: .file(fileName), size: nil, alignmentInsets: alignmentInsets,
            slicing: slicing)
    }
}

/// The names and renditions of a file.
private struct CarTables {
    private(set) var keyFormat: [Int] = []
    private(set) var renditions: [CarRendition] = []

    init(_ file: Span<UInt8>) throws(CompiledDamage) {
        let store = try BOMStore(file)
        guard let format = try store.block(file, named: "KEYFORMAT"), format.count >= 12,
            file.text(at: format.lowerBound, byteCount: 4) == "tmfk"
        else { throw CompiledDamage(reason: "not an asset catalog: no format of keys") }
        let count = file.littleEndian(at: format.lowerBound + 8, byteCount: 4)
        guard count <= 64, count * 4 <= format.count - 12 else {
            throw CompiledDamage(reason: "invalid format of keys")
        }
        keyFormat = (0..<count).map {
            file.littleEndian(at: format.lowerBound + 12 + $0 * 4, byteCount: 4)
        }
        let names = try Self.names(file, store)
        for entry in try store.entries(file, ofTree: "RENDITIONS") {
            try add(file, entry.key, entry.value, names)
        }
    }

    /// The names of assets by their identifiers.
    private static func names(
        _ file: Span<UInt8>, _ store: BOMStore
    ) throws(CompiledDamage) -> [Int: String] {
        var names: [Int: String] = [:]
        for (key, value) in try store.entries(file, ofTree: "FACETKEYS") {
            guard key.count <= CompiledLayout.maximumStringByteCount else {
                throw CompiledDamage(reason: "a name of \(key.count) bytes")
            }
            for offset in stride(
                from: value.lowerBound + 6, to: value.upperBound - 3, by: 4)
            where file.littleEndian(at: offset, byteCount: 2) == CarAttribute.identifier.rawValue {
                names[file.littleEndian(at: offset + 2, byteCount: 2)] = file.text(
                    at: key.lowerBound, byteCount: key.count)
            }
        }
        return names
    }

    private mutating func add(
        _ file: Span<UInt8>, _ key: Range<Int>, _ value: Range<Int>, _ names: [Int: String]
    ) throws(CompiledDamage) {
        guard key.count >= keyFormat.count * 2 else {
            throw CompiledDamage(reason: "a key of \(key.count) bytes")
        }
        let values = keyFormat.indices.map {
            file.littleEndian(at: key.lowerBound + $0 * 2, byteCount: 2)
        }
        func attribute(_ attribute: CarAttribute) -> Int {
            keyFormat.firstIndex(of: attribute.rawValue).map { values[$0] } ?? 0
        }
        let header = try CarHeader(file, value)
        let isSheet = header.layout == 1004
        guard let name = isSheet ? "" : names[attribute(.identifier)] else { return }
        // Bits 3 and 4 are the rendering mode: 0 original, 1 template, 2 left to the program.
        let modes: [Asset.RenderingMode?] = [.original, .template, nil, nil]
        let isVector = header.layout == 9
        renditions.append(
            CarRendition(
                name: name, fileName: header.fileName, traits: AssetTraits(attribute),
                pixelSize: header.size, isVector: isVector,
                isDrawn: !isVector && header.flags & 4 != 0,
                renderingMode: isVector ? nil : modes[header.flags >> 3 & 3],
                alignmentInsets: header.alignment, slicing: header.slicing, key: values,
                format: header.format, colorSpace: header.colorSpace, content: header.content,
                bytesPerRow: header.bytesPerRow, link: header.link, isSheet: isSheet))
    }
}
