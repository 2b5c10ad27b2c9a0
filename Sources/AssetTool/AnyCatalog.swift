// SPDX-License-Identifier: Apache-2.0

internal import AssetCatalogs
internal import EncodedImages
internal import ImageCommands
internal import Pixels

/// A catalog of any form: a folder, a compiled file or a file of Apple's compiler.
enum AnyCatalog {
    case folder(AssetCatalog)
    case compiled(CompiledCatalog)
    case car(CarFile)

    /// Opens a folder or a file, whose form is recognized by its bytes.
    init(_ path: String) throws(AssetCatalogError) {
        if isFolder(path) {
            self = .folder(try AssetCatalog(folder: path))
            return
        }
        let bytes: EncodedBytes
        do throws(CodecError) {
            bytes = try EncodedBytes(mapping: path)
        } catch {
            throw .unreadable(path: path, reason: "\(error)")
        }
        self =
            CarFile.isCar(bytes)
            ? .car(try CarFile(bytes, path: path))
            : .compiled(try CompiledCatalog(bytes, path: path))
    }

    func assets() throws(AssetCatalogError) -> [Asset] {
        switch self {
        case .folder(let catalog): catalog.assets
        case .compiled(let catalog): try catalog.assets()
        case .car(let file): file.assets
        }
    }

    /// The properties of the file of a slot.
    func storedMembers(
        of asset: Asset, _ index: Int, _ codecs: CodecSet
    ) throws(FileFailure) -> [JSON.Member] {
        switch self {
        case .folder:
            guard case .file(let name) = asset.slots[index].content else { return [] }
            return try fileMembers(name, asset, codecs)
        case .compiled(let catalog):
            do throws(AssetCatalogError) {
                let slots = try catalog.slots(of: asset.key)
                guard let storage = try catalog.storage(of: slots[index]) else { return [] }
                return sizeMembers(storage.pixelSize)
                    + [
                        .init("Compression", .string(storage.compression)),
                        .init("SizeOnDisk", .integer(storage.byteCount)),
                    ]
            } catch {
                throw FileFailure(catalog.path, "\(asset.key.name): \(error.reason)")
            }
        case .car(let file):
            let rendition = file.renditions(of: asset.key)[index]
            return sizeMembers(rendition.pixelSize.isEmpty ? nil : rendition.pixelSize)
        }
    }

    private func sizeMembers(_ size: PixelSize?) -> [JSON.Member] {
        guard let size else { return [] }
        return [
            .init("PixelWidth", .integer(size.width)), .init("PixelHeight", .integer(size.height)),
        ]
    }

    private func fileMembers(
        _ name: String, _ asset: Asset, _ codecs: CodecSet
    ) throws(FileFailure) -> [JSON.Member] {
        let path = "\(asset.path)/\(name)"
        var members: [JSON.Member] = []
        do throws(CodecError) {
            let bytes = try EncodedBytes(mapping: path)
            // Without a codec, as for PDF, the size is unknown.
            if asset.containsImages, !name.lowercased().hasSuffix(".pdf") {
                do throws(CodecError) {
                    members += sizeMembers(try ImageSource(bytes, codecs: codecs).pixelSize)
                } catch {
                    // The build may have no codec for the format.
                    switch error {
                    case .unsupported, .notBuiltIn: break
                    default: throw error
                    }
                }
            }
            members.append(.init("SizeOnDisk", .integer(bytes.count)))
        } catch {
            throw FileFailure(path, error)
        }
        return members
    }
}
