// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import AssetCatalogs
internal import DecoderSandbox
internal import EncodedImages
internal import ImageCommands
internal import Pixels

/// The `assets extract` command.
struct AssetExtract: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "extract",
        abstract: "Writes the files of a compiled catalog, ours or Apple's, to a folder.",
        discussion: """
            Files that are stored as they are keep their bytes; other images are written as PNG. The file \
            of a slot is written to FOLDER/NAME/FILE, where NAME is that of the asset.

            Of Apple's Assets.car, images are read that are stored as ARGB, without compression or with \
            LZFSE, and the PDF files of vectors. Images that are resized in parts consist of those parts.
            """)

    @Argument(help: "The compiled file, Assets.assets or Assets.car.", completion: .file())
    var catalog: String

    @Option(
        name: .shortAndLong, help: "The folder of the files; it is created.",
        completion: .directory)
    var output: String

    @Flag(name: .shortAndLong, help: "Do not print the number of files.") var quiet = false

    @OptionGroup var sandboxing: SandboxArguments

    func run() throws {
        let (codecs, sandbox) = try sandboxing.decoding(workerCount: 1)
        defer { sandbox?.close() }
        var hasFailed = false
        var fileCount = 0
        do throws(AssetCatalogError) {
            let catalog = try AnyCatalog(catalog)
            for (number, asset) in try catalog.assets().enumerated() {
                for index in asset.slots.indices {
                    do throws(FileFailure) {
                        let files = try catalog.extractedFiles(of: asset, number, index, codecs)
                        for file in files { try write(file) }
                        fileCount += files.count
                    } catch {
                        report(error)
                        hasFailed = true
                    }
                }
            }
        } catch {
            writeToStandardError("calotype: \(error)\n")
            throw ExitCode(1)
        }
        if !quiet { writeToStandardError("calotype: \(fileCount) files extracted\n") }
        if hasFailed { throw ExitCode(1) }
    }

    private func write(_ file: ExtractedFile) throws(FileFailure) {
        let path = "\(output)/\(file.path)"
        try makeFolder(splitFolder(path).folder)
        try writeFile(file.bytes, to: path)
    }
}

/// A file to write, with its path below the folder of the output.
struct ExtractedFile {
    let path: String
    let bytes: [UInt8]

    /// Creates a file of an asset.
    ///
    /// - Throws: ``FileFailure`` if the path leaves the folder of the output.
    init(_ name: String, of asset: String, _ bytes: [UInt8]) throws(FileFailure) {
        let path = "\(asset)/\(name)"
        let isInside = path.split(separator: "/", omittingEmptySubsequences: false).allSatisfy {
            !["", ".", ".."].contains($0) && !$0.utf8.contains(0)
        }
        guard isInside else { throw FileFailure(path, "the name leaves the folder of the output") }
        self.path = path
        self.bytes = bytes
    }

    /// Encodes an image as PNG.
    init(
        png image: PixelBuffer, _ name: String, of asset: String, _ codecs: CodecSet
    ) throws(FileFailure) {
        let file: [UInt8]
        do throws(CodecError) {
            file = try ImageDestination(format: "png", codecs: codecs).encode(image)
        } catch {
            throw FileFailure("\(asset)/\(name)", error)
        }
        try self.init("\(splitExtension(name).name).png", of: asset, file)
    }
}

extension AnyCatalog {
    /// The files of a slot: its file, or its image in PNG, and the rasters of vectors.
    ///
    /// - Parameters:
    ///   - asset: one of ``assets()``.
    ///   - number: the index of the asset.
    ///   - index: the index of the slot.
    ///   - codecs: decode images that are stored as files, and encode PNG.
    /// - Returns: no file for colours.
    /// - Throws: ``FileFailure``.
    func extractedFiles(
        of asset: Asset, _ number: Int, _ index: Int, _ codecs: CodecSet
    ) throws(FileFailure) -> [ExtractedFile] {
        guard case .file(let name) = asset.slots[index].content else { return [] }
        do {
            let files =
                switch form {
                case .folder:
                    throw FileFailure(asset.path, "a folder; its files need no extraction")
                case .compiled(let catalog):
                    try Self.files(
                        of: catalog, asset, try catalog.slot(index, ofAsset: number), name, codecs)
                case .car(let file):
                    try Self.files(of: file, asset, file.renditions(of: asset.key)[index], codecs)
                }
            try checkUnchanged()
            return files
        } catch let error as FileFailure {
            throw error
        } catch let error as AssetCatalogError {
            throw FileFailure("\(asset.key.name)/\(name)", error.reason)
        } catch {
            throw FileFailure("\(asset.key.name)/\(name)", error)
        }
    }

    private static func files(
        of file: CarFile, _ asset: Asset, _ rendition: CarRendition, _ codecs: CodecSet
    ) throws -> [ExtractedFile] {
        let name = rendition.extractedName
        if let data = file.data(of: rendition) {
            return [try ExtractedFile("\(name).pdf", of: asset.key.name, data)]
        }
        let image = try file.image(of: rendition)
        return [try ExtractedFile(png: image, name, of: asset.key.name, codecs)]
    }

    private static func files(
        of catalog: CompiledCatalog, _ asset: Asset, _ slot: CompiledSlot, _ name: String,
        _ codecs: CodecSet
    ) throws -> [ExtractedFile] {
        var files: [ExtractedFile] = []
        let stem = splitExtension(name).name
        for scale in try catalog.rasterScales(of: slot) {
            let image = try catalog.image(of: slot.scaled(to: scale), codecs: codecs)
            let suffix = scale == 1 ? "" : "@\(scale)x"
            files.append(
                try ExtractedFile(png: image, "\(stem)\(suffix).png", of: asset.key.name, codecs))
        }
        if let data = try catalog.data(of: slot) {
            let fileExtension = splitExtension(name).fileExtension ?? ""
            let isAsNamed =
                !asset.containsImages
                || data.withCodec(codecs)?.format.isNamed(fileExtension) ?? true
            if isAsNamed {
                return files + [try ExtractedFile(name, of: asset.key.name, data)]
            }
        } else if !files.isEmpty {
            return files
        }
        let image = try catalog.image(of: slot, codecs: codecs)
        return files + [try ExtractedFile(png: image, name, of: asset.key.name, codecs)]
    }
}

extension CarRendition {
    /// The name of the file with the traits, because images of several sizes are drawn from one file.
    fileprivate var extractedName: String {
        guard isDrawn, let scale = traits.scale, scale != 1 else { return fileName }
        let (stem, fileExtension) = splitExtension(fileName)
        return "\(stem)@\(scale)x" + (fileExtension.map { ".\($0)" } ?? "")
    }
}

extension [UInt8] {
    /// The codec for the bytes of a file; `nil` for vectors without a codec.
    fileprivate func withCodec(_ codecs: CodecSet) -> (any ImageCodec)? { codecs.codec(for: span) }
}
