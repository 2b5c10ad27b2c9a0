// SPDX-License-Identifier: Apache-2.0

import Foundation
import PackagePlugin

/// Compiles the asset catalog of a target and generates the names of its assets.
///
/// The compiled file is a resource of the target, the names are one of its sources.
@main
struct AssetCatalogPlugin: BuildToolPlugin {
    func createBuildCommands(
        context: PluginContext, target: any Target
    ) async throws -> [Command] {
        let catalogs = try folders(in: target.directoryURL)
        guard let catalog = catalogs.first else { return [] }
        guard catalogs.count == 1 else {
            Diagnostics.error(
                "\(target.name) contains \(catalogs.count) asset catalogs; the plugin compiles one")
            return []
        }
        let name = catalog.deletingPathExtension().lastPathComponent
        let compiled = context.pluginWorkDirectoryURL.appending(path: "\(name).assets")
        let names = context.pluginWorkDirectoryURL.appending(path: "\(name)Names.swift")
        let worker = try context.tool(named: "DecoderWorker").url
        return [
            .buildCommand(
                displayName: "Compiling \(catalog.lastPathComponent)",
                executable: try context.tool(named: "AssetTool").url,
                arguments: [
                    "compile", catalog.path, "--cache",
                    context.pluginWorkDirectoryURL.appending(path: "cache").path, "--output",
                    compiled.path, "--swift", names.path,
                    "--worker", worker.path, "--quiet",
                ],
                inputFiles: try files(in: catalog) + [worker], outputFiles: [compiled, names])
        ]
    }

    /// The catalogs in a folder and its subfolders, sorted by their paths.
    private func folders(in folder: URL) throws -> [URL] {
        let entries = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        var catalogs: [URL] = []
        while let entry = entries?.nextObject() as? URL {
            guard entry.pathExtension == "xcassets" else { continue }
            catalogs.append(entry)
            entries?.skipDescendants()
        }
        return catalogs.sorted { $0.path < $1.path }
    }

    private func files(in catalog: URL) throws -> [URL] {
        let entries = FileManager.default.enumerator(
            at: catalog, includingPropertiesForKeys: [.isRegularFileKey])
        var files: [URL] = []
        while let entry = entries?.nextObject() as? URL {
            if try entry.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true {
                files.append(entry)
            }
        }
        return files.sorted { $0.path < $1.path }
    }
}
