// SPDX-License-Identifier: Apache-2.0

internal import AssetCatalogs
internal import EncodedImages
internal import ImageCommands
internal import Pixels

/// A catalog of any form: a folder, a compiled file or a file of Apple's compiler.
struct AnyCatalog {
    enum Form {
        case folder(AssetCatalog)
        case compiled(CompiledCatalog)
        case car(CarFile)
    }

    let form: Form
    private let path: String
    /// The bytes of a file.
    private let bytes: EncodedBytes?

    /// Opens a folder or a file, whose form is recognized by its bytes.
    init(_ path: String) throws(AssetCatalogError) {
        self.path = path
        if isFolder(path) {
            form = .folder(try AssetCatalog(folder: path))
            bytes = nil
            return
        }
        let bytes: EncodedBytes
        do throws(CodecError) {
            bytes = try EncodedBytes(mapping: path)
        } catch {
            throw .unreadable(path: path, reason: "\(error)")
        }
        self.bytes = bytes
        form =
            CarFile.isCar(bytes)
            ? .car(try CarFile(bytes, path: path))
            : .compiled(try CompiledCatalog(bytes, path: path))
    }

    /// Checks that a file was not changed while it was read.
    func checkUnchanged() throws(AssetCatalogError) {
        do throws(CodecError) {
            try bytes?.checkUnchanged()
        } catch {
            throw .unreadable(path: path, reason: "\(error)")
        }
    }

    func assets() throws(AssetCatalogError) -> [Asset] {
        switch form {
        case .folder(let catalog): catalog.assets
        case .compiled(let catalog): try catalog.assets()
        case .car(let file): file.assets
        }
    }

    /// The properties of the file of a slot.
    ///
    /// - Parameters:
    ///   - asset: one of ``assets()``.
    ///   - number: the index of the asset.
    ///   - index: the index of the slot.
    ///   - codecs: read the headers of the files of a folder.
    /// - Returns: size and form; none for colours.
    /// - Throws: ``FileFailure``.
    func storedMembers(
        of asset: Asset, _ number: Int, _ index: Int, _ codecs: CodecSet
    ) throws(FileFailure) -> [JSON.Member] {
        switch form {
        case .folder:
            guard case .file(let name) = asset.slots[index].content else { return [] }
            return try fileMembers(name, asset, codecs)
        case .compiled(let catalog):
            do throws(AssetCatalogError) {
                let slot = try catalog.slot(index, ofAsset: number)
                guard let storage = try catalog.storage(of: slot) else { return [] }
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
            if asset.containsImages {
                do throws(CodecError) {
                    members += sizeMembers(try ImageSource(bytes, codecs: codecs).pixelSize)
                } catch {
                    // Without a codec the size is unknown.
                    switch error {
                    case .unsupported, .notBuiltIn: break
                    default: if error.missingVectors(bytes) == nil { throw error }
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
