// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Image files that tests find by traversing folders; they are not listed in code.
public enum SampleFiles {
    /// The folder that holds Package.swift.
    public static let packageDirectory = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static let ownFolder = packageDirectory.appending(path: "Corpus")
        .resolvingSymlinksInPath()
    private static let realFolder =
        ProcessInfo.processInfo.environment["CALOTYPE_CORPUS"].map { URL(filePath: $0) }
        ?? packageDirectory.appending(path: "../shared/corpus").standardized

    // Each folder is traversed once: many tests ask for some of its files.
    private static let ownFiles = files(below: ownFolder)
    private static let realFiles = files(below: realFolder)

    /// The project's own samples, `Corpus/<format>/valid` and `invalid`.
    public static func own(_ format: String, _ kind: String) -> [URL] {
        ownFiles.filter { $0.path.hasPrefix("\(ownFolder.path)/\(format)/\(kind)/") }
    }

    /// All of the project's own samples.
    public static func own() -> [URL] {
        ownFiles.filter {
            ["valid", "invalid"].contains($0.deletingLastPathComponent().lastPathComponent)
        }
    }

    /// Photographs outside the project; empty on a machine without them.
    ///
    /// The folder is that of the environment variable `CALOTYPE_CORPUS`, else `../shared/corpus`.
    public static func real(_ subfolder: String = "", extensions: Set<String>) -> [URL] {
        let start = realFolder.appending(path: subfolder).path
        let prefix = start.hasSuffix("/") ? start : "\(start)/"
        return realFiles.filter {
            $0.path.hasPrefix(prefix) && extensions.contains($0.pathExtension.lowercased())
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
