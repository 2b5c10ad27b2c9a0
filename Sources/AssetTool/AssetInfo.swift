// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import AssetCatalogs
internal import DecoderSandbox
internal import ImageCommands

/// The `assets info` command.
struct AssetInfo: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "Prints the slots of a catalog as JSON.",
        discussion: """
            The objects have the names of Apple's assetutil --info. A file that is missing or is \
            not an image is reported on standard error, and the exit status is 1.
            """)

    @Argument(help: "The folder of a catalog, a compiled file, or Apple's Assets.car.")
    var catalog: String

    @OptionGroup var sandboxing: SandboxArguments

    func run() throws {
        let (codecs, sandbox) = try sandboxing.decoding(workerCount: 1)
        defer { sandbox?.close() }
        var objects: [JSON] = []
        var hasFailed = false
        do throws(AssetCatalogError) {
            let catalog = try AnyCatalog(catalog)
            for (number, asset) in try catalog.assets().enumerated() {
                if case .other = asset.key.kind {
                    objects.append(
                        .object([asset.typeMember, .init("Name", .string(asset.key.name))]))
                }
                for (index, slot) in asset.slots.enumerated() where slot.content != .empty {
                    do throws(FileFailure) {
                        let stored = try catalog.storedMembers(
                            of: asset, number, index, codecs)
                        objects.append(.object(slot.members(of: asset) + stored))
                    } catch {
                        report(error)
                        hasFailed = true
                    }
                }
            }
            try catalog.checkUnchanged()
        } catch {
            writeToStandardError("calotype: \(error)\n")
            throw ExitCode(1)
        }
        print(JSON.array(objects).text())
        if hasFailed { throw ExitCode(1) }
    }
}

extension Asset {
    fileprivate var typeMember: JSON.Member {
        let name =
            switch key.kind {
            case .image: "Image"
            case .appIcon: "Icon Image"
            case .color: "Color"
            case .data: "Data"
            case .symbol: "Vector Glyph"
            case .other(let name): name
            }
        return .init("AssetType", .string(name))
    }

    var containsImages: Bool {
        switch key.kind {
        case .image, .appIcon: true
        default: false
        }
    }
}

extension AssetSlot {
    /// The properties of the slot, without those of its file.
    fileprivate func members(of asset: Asset) -> [JSON.Member] {
        var members = [asset.typeMember, .init("Name", .string(asset.key.name))]
        members += traitMembers
        if let mode = asset.renderingMode {
            members.append(.init("Template Mode", .string(mode.rawValue)))
        }
        if asset.preservesVectors {
            members.append(.init("Preserved Vector Representation", .bool(true)))
        }
        switch content {
        case .empty: break
        case .file(let name): members.append(.init("RenditionName", .string(name)))
        case .color(let color):
            members.append(.init("Colorspace", .string(color.space)))
            members.append(
                .init(
                    "Color components",
                    .array((color.components + [color.alpha]).map { .number($0) })))
        case .systemColor(let name): members.append(.init("System Color", .string(name)))
        }
        return members
    }

    private var traitMembers: [JSON.Member] {
        let texts = [
            ("Idiom", traits.idiom ?? "universal"), ("Platform", traits.platform),
            ("Subtype", traits.subtype), ("Screen Width", traits.screenWidth),
            ("SizeClass Horizontal", traits.widthClass), ("SizeClass Vertical", traits.heightClass),
            ("Luminosity", traits.luminosity), ("Contrast", traits.contrast),
            ("DisplayGamut", traits.gamut), ("LanguageDirection", traits.direction),
            ("Localization", traits.locale), ("GraphicsFeatureSet", traits.graphics),
            ("Size", size),
        ]
        let numbers = [("Memory", traits.memory), ("Scale", traits.scale)]
        return texts.compactMap { name, value in value.map { .init(name, .string($0)) } }
            + numbers.compactMap { name, value in value.map { .init(name, .integer($0)) } }
    }
}
