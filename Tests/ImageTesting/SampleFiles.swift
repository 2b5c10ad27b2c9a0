// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Image files that tests find by enumerating folders.
public enum SampleFiles {
    /// The folder that contains Package.swift.
    public static let packageDirectory = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The project's own samples, `Corpus/<format>/valid` and `invalid`.
    public static func own(_ format: String, _ kind: String) -> [URL] {
        files(below: packageDirectory.appending(path: "Corpus/\(format)/\(kind)"))
    }

    /// All of the project's own samples.
    public static func own() -> [URL] {
        files(
            below: packageDirectory.appending(path: "Corpus").resolvingSymlinksInPath()
        ).filter {
            ["valid", "invalid"].contains($0.deletingLastPathComponent().lastPathComponent)
        }
    }

    /// Photographs outside the project; empty if the folder does not exist.
    ///
    /// The environment variable `CALOTYPE_CORPUS` specifies it; default: `../shared/corpus`.
    public static func real(_ subfolder: String = "", extensions: Set<String>) -> [URL] {
        let root =
            ProcessInfo.processInfo.environment["CALOTYPE_CORPUS"].map { URL(filePath: $0) }
            ?? packageDirectory.appending(path: "../shared/corpus").standardized
        return files(below: root.appending(path: subfolder)).filter {
            extensions.contains($0.pathExtension.lowercased())
        }
    }

    private static func files(below folder: URL) -> [URL] {
        let walk = FileManager.default.enumerator(
            at: folder, includingPropertiesForKeys: [.isRegularFileKey])
        let files = walk?.compactMap { $0 as? URL } ?? []
        return
            files
            .filter { (try? $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) == true }
            .sorted { $0.path < $1.path }
    }
}
