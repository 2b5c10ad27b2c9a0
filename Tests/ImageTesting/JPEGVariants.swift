// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A JPEG file made to be unlike the others.
public struct JPEGVariant: Sendable {
    /// How it was made, beginning with the seed and the number that make it again.
    public var recipe: String
    public var bytes: [UInt8]
    /// Whether scans bring every bit of every coefficient.
    ///
    /// Where they do not, libjpeg makes up smooth coefficients, and its samples cannot be compared
    /// with.
    public var isComplete: Bool
    /// Grey files that have the same coefficients as one component each, in their order; empty
    /// where the file was not put together from such.
    public var parts: [[UInt8]]
}

/// Makes JPEG files of every sort that cjpeg and jpegtran write, and some that they do not.
///
/// The same seed and number make the same file as long as the tools are the same.
public enum JPEGVariants {
    /// Without them no files are generated, and tests are skipped.
    public static var toolsAreInstalled: Bool { tools != nil }

    /// Why a test is skipped.
    public static let requirement: String = "cjpeg and jpegtran (libjpeg-turbo-progs) are missing"

    /// How many files a thorough test makes: the environment variable `CALOTYPE_DEEP_FILES`, as
    /// in 20000, else 500.
    public static var fileCount: Int {
        ProcessInfo.processInfo.environment["CALOTYPE_DEEP_FILES"].flatMap { Int($0) } ?? 500
    }

    /// Makes the first files of a seed.
    public static func make(count: Int, seed: UInt64, in folder: URL) throws -> [JPEGVariant] {
        try make(0..<count, seed: seed, in: folder)
    }

    /// Makes files by their numbers, each of which depends on its number and the seed alone.
    ///
    /// - Parameters:
    ///   - numbers: The numbers of the files; tests of many files pass a few hundred at a time.
    ///   - seed: Another seed gives other files.
    ///   - folder: An existing folder, which is as it was afterwards.
    /// - Returns: The files in the order of their numbers.
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

    /// Each tool runs for all files in one go, because starting processes from here takes longer
    /// than their work.
    private static func make(
        _ plans: [JPEGVariantPlan], in folder: URL, _ tools: (cjpeg: URL, jpegtran: URL)
    ) throws -> [JPEGVariant] {
        var commands: [String] = []
        for plan in plans {
            for (index, image) in plan.images.enumerated() {
                let name = "\(plan.number).\(index)"
                try write(image.pnm(), to: folder.appending(path: "\(name).pnm"))
                commands.append(
                    try command(tools.cjpeg, image.encoding, "\(name).pnm", name, in: folder))
            }
        }
        try run(commands, in: folder)

        commands = []
        for plan in plans {
            if let assembly = plan.assembly {
                let parts = try (0..<plan.images.count).map {
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
            let parts = try (isAssembled ? plan.images.indices : 0..<0).map {
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
        // A command that fails leaves no file, which is noticed where that is read.
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

/// The reason why no files are available.
public enum JPEGVariantError: Error {
    case toolsAreMissing
    /// A tool does not make the file of this recipe.
    case refused(String)
}
