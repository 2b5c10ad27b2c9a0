// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A generated JPEG file with random coding parameters.
public struct JPEGVariant: Sendable {
    /// The steps that made the file; they begin with the seed and the number that reproduce it.
    public var recipe: String
    public var bytes: [UInt8]
    /// Whether the scans contain every bit of every coefficient.
    ///
    /// If not, libjpeg interpolates coefficients (block smoothing), so its samples cannot be
    /// compared.
    public var isComplete: Bool
    /// The grey files with the coefficients of each component; empty unless the file was assembled.
    public var parts: [[UInt8]]
}

/// A generator of all kinds of JPEG files that cjpeg and jpegtran write, and of some others.
///
/// Files are deterministic for a seed and a number with the same versions of the tools.
public enum JPEGVariants {
    /// Whether cjpeg and jpegtran are installed; otherwise tests are skipped.
    public static var toolsAreInstalled: Bool { tools != nil }

    /// The reason for skipping a test.
    public static let requirement: String = "cjpeg and jpegtran (libjpeg-turbo-progs) are missing"

    /// The number of files of a thorough test: the environment variable `CALOTYPE_DEEP_FILES`;
    /// default: 500.
    public static var fileCount: Int {
        ProcessInfo.processInfo.environment["CALOTYPE_DEEP_FILES"].flatMap { Int($0) } ?? 500
    }

    /// Generates the first files of a seed.
    public static func make(count: Int, seed: UInt64, in folder: URL) throws -> [JPEGVariant] {
        try make(0..<count, seed: seed, in: folder)
    }

    /// Generates files by their numbers; each depends only on its number and the seed.
    ///
    /// - Parameters:
    ///   - numbers: the numbers of the files; tests of many files pass some hundreds at a time.
    ///   - seed: the random seed.
    ///   - folder: an existing folder for temporary files, which are deleted.
    /// - Returns: the files in the order of `numbers`.
    /// - Throws: ``JPEGVariantError``, or what reading and writing files throws.
    public static func make(
        _ numbers: Range<Int>, seed: UInt64, in folder: URL
    ) throws -> [JPEGVariant] {
        guard let tools else { throw JPEGVariantError.toolsAreMissing }
        var variants: [JPEGVariant] = []
        for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 500) {
            let plans = (start..<min(start + 500, numbers.upperBound)).map {
                JPEGVariantPlan(number: $0, seed: seed)
            }
            let workshop = folder.appending(path: "jpeg-variants-\(UUID().uuidString)")
            try FileManager.default.createDirectory(
                at: workshop, withIntermediateDirectories: false)
            defer { try? FileManager.default.removeItem(at: workshop) }
            variants += try make(plans, in: workshop, tools)
        }
        return variants
    }

    private static var tools: (cjpeg: URL, jpegtran: URL)? {
        guard let cjpeg = PeerTool.cjpeg, let jpegtran = PeerTool.jpegtran else { return nil }
        return (cjpeg, jpegtran)
    }

    /// Runs each tool once for all files, because starting processes takes longer than their work.
    private static func make(
        _ plans: [JPEGVariantPlan], in folder: URL, _ tools: (cjpeg: URL, jpegtran: URL)
    ) throws -> [JPEGVariant] {
        var commands: [String] = []
        for plan in plans {
            for (index, picture) in plan.pictures.enumerated() {
                let name = "\(plan.number).\(index)"
                try write(picture.pnm(), to: folder.appending(path: "\(name).pnm"))
                commands.append(
                    try command(tools.cjpeg, picture.encoding, "\(name).pnm", name, in: folder))
            }
        }
        try run(commands, in: folder)

        commands = []
        for plan in plans {
            if let assembly = plan.assembly {
                let parts = try (0..<plan.pictures.count).map {
                    try read("\(plan.number).\($0).jpg", in: folder, plan)
                }
                let file = try assembly.file(of: parts)
                try write(file, to: folder.appending(path: "\(plan.number).jpg"))
            }
            guard let transcoding = plan.transcoding else { continue }
            let name = plan.assembly == nil ? "\(plan.number).0.jpg" : "\(plan.number).jpg"
            commands.append(
                try command(tools.jpegtran, transcoding, name, "\(plan.number).out", in: folder))
        }
        try run(commands, in: folder)

        return try plans.map { plan in
            let isAssembled = plan.assembly != nil
            let suffix = plan.transcoding != nil ? ".out" : isAssembled ? "" : ".0"
            var bytes = try read("\(plan.number)\(suffix).jpg", in: folder, plan)
            if let decoration = plan.decoration { bytes = try decoration.applied(to: bytes) }
            let parts = try (isAssembled ? plan.pictures.indices : 0..<0).map {
                try read("\(plan.number).\($0).jpg", in: folder, plan)
            }
            return JPEGVariant(
                recipe: plan.recipe, bytes: bytes, isComplete: plan.isComplete, parts: parts)
        }
    }

    private static func command(
        _ tool: URL, _ encoding: JPEGEncoding, _ input: String, _ name: String, in folder: URL
    ) throws -> String {
        var arguments = encoding.arguments
        if let script = encoding.scanScript {
            try write(Array(script.utf8), to: folder.appending(path: "\(name).scans"))
            arguments += ["-scans", "\(name).scans"]
        }
        return ([tool.path] + arguments + ["-outfile", "\(name).jpg", input])
            .joined(separator: " ")
    }

    private static func run(_ commands: [String], in folder: URL) throws {
        let half = commands.count / 2
        let lines =
            ["cd \"$1\" || exit 1", "{ :"] + commands[..<half] + ["} &"]
            + commands[half...] + ["wait"]
        let script = folder.appending(path: "commands.sh")
        try write(Array(lines.joined(separator: "\n").utf8), to: script)
        // A command that fails writes no file, which is detected when the file is read.
        _ = try PeerTool.run(URL(filePath: "/bin/sh"), [script.path, folder.path])
    }

    private static func write(_ bytes: [UInt8], to file: URL) throws {
        try Data(bytes).write(to: file)
    }

    private static func read(
        _ name: String, in folder: URL, _ plan: JPEGVariantPlan
    ) throws -> [UInt8] {
        let bytes = (try? Data(contentsOf: folder.appending(path: name))).map(Array.init)
        guard let bytes, !bytes.isEmpty else { throw JPEGVariantError.refused(plan.recipe) }
        return bytes
    }
}

/// An error of file generation.
public enum JPEGVariantError: Error {
    case toolsAreMissing
    /// A tool failed to make the file with this recipe.
    case refused(String)
}
