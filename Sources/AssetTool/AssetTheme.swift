// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import AssetCatalogs
internal import DecoderSandbox
internal import EncodedImages
internal import FoundationEssentials
internal import ImageCommands
internal import Pixels

/// The `assets theme` command.
struct AssetTheme: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "theme", abstract: "Makes an icon theme for Linux desktops from a catalog.",
        discussion: """
            Writes index.theme and the PNG and SVG files of image sets, in folders by their size in \
            points and their scale. SVG files of sets that are rendered as templates are symbolic icons, \
            which desktops recolour. Names are those of the assets, with - instead of / and spaces; of \
            slots for several devices or appearances, the first one for all devices is used.

            EXAMPLES
              calotype assets theme Assets.xcassets -o icons/Name
              calotype assets theme Assets.xcassets -o icons/Name --gresource icons.gresource.xml
            """)

    @Argument(help: "The folder of a catalog, Assets.xcassets.", completion: .directory)
    var catalog: String

    @Option(
        name: .shortAndLong, help: "The folder of the theme, whose name is that of the theme.",
        completion: .directory)
    var output: String

    @Option(
        help: ArgumentHelp(
            "Write a description for glib-compile-resources, whose --sourcedir is the theme.",
            valueName: "file"), completion: .file())
    var gresource: String?

    @Option(help: "The path of the icons in the GResource file.") var resourcePrefix = "/icons"

    @OptionGroup var sandboxing: SandboxArguments

    func run() throws {
        let (codecs, sandbox) = try sandboxing.decoding(workerCount: 1)
        defer { sandbox?.close() }
        do {
            let theme = try IconTheme(
                try AssetCatalog(folder: catalog), name: Self.themeName(output), codecs)
            for failure in theme.failures { report(failure) }
            for file in theme.files {
                let path = "\(output)/\(file.path)"
                try makeFolder(splitFolder(path).folder)
                try writeFile(file.bytes, to: path)
            }
            try makeFolder(output)
            try writeFile(Array(theme.index.utf8), to: "\(output)/index.theme")
            if let gresource {
                try writeFile(
                    Array(theme.resources(prefix: resourcePrefix).utf8), to: gresource)
            }
            if !theme.failures.isEmpty { throw ExitCode(1) }
        } catch let error as FileFailure {
            report(error)
            throw ExitCode(1)
        } catch let error as AssetCatalogError {
            writeToStandardError("calotype: \(error)\n")
            throw ExitCode(1)
        }
    }
}

extension AssetTheme {
    /// The name of a theme in a folder, which is that of the folder, never empty.
    static func themeName(_ folder: String) -> String {
        // Resolves `.`, and ignores a slash at the end.
        let name = URL(filePath: folder).standardizedFileURL.lastPathComponent
        return name.isEmpty || name == "/" ? "Icons" : name
    }
}

/// The files of an icon theme.
///
/// - SeeAlso: freedesktop.org, *Icon Theme Specification*.
struct IconTheme {
    /// A folder of icons of one size.
    private struct Folder: Hashable {
        var name: String
        var size: Int
        var scale = 1
        var isScalable = false

        /// The section of index.theme.
        var section: String {
            """
            [\(name)/apps]
            Size=\(size)
            Scale=\(scale)
            Context=Applications
            Type=\(isScalable ? "Scalable" : "Fixed")\(isScalable ? "\nMinSize=8\nMaxSize=512" : "")

            """
        }
    }

    private(set) var files: [(path: String, bytes: [UInt8])] = []
    private(set) var failures: [FileFailure] = []
    private var folders: Set<Folder> = []
    private let name: String

    /// Reads the images of a catalog.
    init(_ catalog: AssetCatalog, name: String, _ codecs: CodecSet) throws {
        self.name = name
        var paths: Set<String> = []
        for asset in catalog.assets where asset.key.kind == .image {
            for slot in asset.slots where slot.traits.isForAllDevices {
                guard case .file(let file) = slot.content else { continue }
                do throws(FileFailure) {
                    let icon = try Self.icon(asset, slot, "\(asset.path)/\(file)", codecs)
                    guard let icon, paths.insert(icon.path).inserted else { continue }
                    folders.insert(icon.folder)
                    files.append((icon.path, icon.bytes))
                } catch {
                    failures.append(error)
                }
            }
        }
    }

    /// Returns the icon of a slot; `nil` for formats that themes do not contain.
    private static func icon(
        _ asset: Asset, _ slot: AssetSlot, _ path: String, _ codecs: CodecSet
    ) throws(FileFailure) -> (folder: Folder, path: String, bytes: [UInt8])? {
        let name = String(asset.key.name.map { "/ ".contains($0) ? "-" : $0 })
        let fileExtension = splitExtension(path).fileExtension?.lowercased() ?? ""
        guard ["png", "svg"].contains(fileExtension) else { return nil }
        do throws(CodecError) {
            let bytes = try EncodedBytes(reading: path)
            let content = bytes.copy(of: 0..<bytes.count)
            if fileExtension == "svg" {
                let isSymbolic = asset.renderingMode == .template
                let folder = Folder(
                    name: isSymbolic ? "symbolic" : "scalable", size: isSymbolic ? 16 : 48,
                    isScalable: true)
                let suffix = isSymbolic && !name.hasSuffix("-symbolic") ? "-symbolic" : ""
                return (folder, "\(folder.name)/apps/\(name)\(suffix).svg", content)
            }
            let scale = slot.traits.scale ?? 1
            let size = try ImageSource(bytes, codecs: codecs).pixelSize
            let points = max(1, (size.largestSide + scale - 1) / scale)
            let suffix = scale == 1 ? "" : "@\(scale)"
            let folder = Folder(
                name: "\(points)x\(points)\(suffix)", size: points, scale: scale)
            return (folder, "\(folder.name)/apps/\(name).png", content)
        } catch {
            throw FileFailure(path, error)
        }
    }

    /// The text of index.theme.
    var index: String {
        let sorted = folders.sorted { ($0.size, $0.scale, $0.name) < ($1.size, $1.scale, $1.name) }
        let names = sorted.map { "\($0.name)/apps" }
        let header = """
            [Icon Theme]
            Name=\(Self.value(name))
            Comment=\(Self.value(name))
            Inherits=hicolor
            Directories=\(names.enumerated().filter { sorted[$0.offset].scale == 1 }
                .map(\.element).joined(separator: ","))
            ScaledDirectories=\(names.enumerated().filter { sorted[$0.offset].scale > 1 }
                .map(\.element).joined(separator: ","))


            """
        return header + sorted.map(\.section).joined(separator: "\n")
    }

    /// A text as the value of a key, on one line.
    ///
    /// - SeeAlso: freedesktop.org, *Desktop Entry Specification*, “Possible value types”.
    private static func value(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case " " where result.isEmpty: result += "\\s"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }

    /// The description of a GResource file with the icons.
    func resources(prefix: String) -> String {
        let lines = files.map(\.path).sorted().map { "    <file>\($0.markupEscaped)</file>\n" }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <gresources>
              <gresource prefix="\(prefix.markupEscaped)">
            \(lines.joined())  </gresource>
            </gresources>

            """
    }
}

extension AssetTraits {
    /// Whether no trait other than the scale is required.
    fileprivate var isForAllDevices: Bool {
        var others = self
        others.scale = nil
        return others == AssetTraits()
    }
}
