// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Foundation
internal import ImageCommands

/// The settings of `calotype serve` in a file and in environment variables.
///
/// A setting is an option under another name: `--cache-size 5GB` is `"cacheSize": "5GB"` in the
/// file and `CALOTYPE_CACHE_SIZE=5GB` in the environment. Settings become arguments in front of
/// those of the command line: one parser validates all three, and the last value of an option
/// counts.
///
/// ``kinds`` is derived from the options that ``Serve`` declares.
enum ServerSettings {
    enum Kind {
        case value, list, flag
    }

    /// The kind of each setting, by the name of its option without leading dashes.
    ///
    /// Complexity: O(*n*) in the number of options, on each access.
    static var kinds: [String: Kind] {
        /// The part of the parser's description of a command that is used here.
        struct Description: Decodable {
            struct Command: Decodable { let arguments: [Argument] }
            struct Argument: Decodable {
                let kind: String
                let isRepeating: Bool
                let names: [Name]?
            }
            struct Name: Decodable { let kind, name: String }

            let command: Command
        }
        let data = Data(Serve._dumpHelp().utf8)
        let arguments =
            (try? JSONDecoder().decode(Description.self, from: data))?.command.arguments ?? []
        var kinds: [String: Kind] = [:]
        for argument in arguments where argument.kind != "positional" {
            for name in argument.names ?? [] where name.kind == "long" {
                kinds[name.name] =
                    argument.kind == "flag" ? .flag : argument.isRepeating ? .list : .value
            }
        }
        for commandLineOnly in ["config", "check-config", "help"] { kinds[commandLineOnly] = nil }
        return kinds
    }

    /// A value in a settings file.
    private enum Value: Decodable {
        case flag(Bool)
        case texts([String])

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if let flag = try? value.decode(Bool.self) {
                self = .flag(flag)
            } else if let number = try? value.decode(Int.self) {
                self = .texts(["\(number)"])
            } else if let number = try? value.decode(Double.self) {
                self = .texts(["\(number)"])
            } else if let text = try? value.decode(String.self) {
                self = .texts([text])
            } else {
                self = .texts(try value.decode([String].self))
            }
        }
    }

    /// Inserts the settings into the command line of `calotype serve`.
    ///
    /// - Parameters:
    ///   - arguments: The arguments after the program's name.
    ///   - environment: All environment variables.
    /// - Returns: The arguments to parse; those of other commands are returned unchanged.
    /// - Throws: The same errors as ``arguments(file:environment:)``.
    static func completed(
        _ arguments: [String], environment: [String: String]
    ) throws(FileFailure) -> [String] {
        guard arguments.first == "serve", !arguments.contains("--help"), !arguments.contains("-h")
        else { return arguments }
        var path: String?
        for (index, argument) in arguments.enumerated() {
            if argument == "--config", index + 1 < arguments.count { path = arguments[index + 1] }
            if argument.hasPrefix("--config=") { path = String(argument.dropFirst(9)) }
        }
        return try ["serve"] + self.arguments(file: path, environment: environment)
            + arguments.dropFirst()
    }

    /// Converts the settings of a file and of the environment to arguments.
    ///
    /// - Parameters:
    ///   - path: The path of the settings file, if any.
    ///   - environment: All environment variables.
    /// - Returns: The arguments of the file, then those of the environment, each sorted by name.
    /// - Throws: ``FileFailure`` with the name of an unknown or invalid setting or variable.
    static func arguments(
        file path: String?, environment: [String: String]
    ) throws(FileFailure) -> [String] {
        guard path != nil || environment.keys.contains(where: { $0.hasPrefix(variablePrefix) })
        else { return [] }
        let kinds = kinds.sorted { $0.key < $1.key }
        var arguments: [String] = []
        if let path {
            for (name, value) in try read(path).sorted(by: { $0.key < $1.key }) {
                guard let (option, kind) = kinds.first(where: { fileName(of: $0.key) == name })
                else {
                    throw FileFailure(
                        path, "unknown setting: \(name); see “calotype serve --help”")
                }
                arguments += try self.arguments(option, kind, value, path, name)
            }
        }
        for (option, kind) in kinds {
            let name = variableName(of: option)
            guard let text = environment[name] else { continue }
            let value: Value =
                switch kind {
                case .value: .texts([text])
                case .list: .texts(text.split(separator: " ").map(String.init))
                case .flag: try flag(text, name)
                }
            arguments += try self.arguments(option, kind, value, "environment", name)
        }
        return arguments
    }

    /// Converts `cache-size` to `cacheSize`.
    static func fileName(of option: String) -> String {
        let words = option.split(separator: "-")
        return words.dropFirst().reduce(into: String(words.first ?? "")) {
            $0 += $1.prefix(1).uppercased() + $1.dropFirst()
        }
    }

    private static let variablePrefix = "CALOTYPE_"

    /// Converts `cache-size` to `CALOTYPE_CACHE_SIZE`.
    static func variableName(of option: String) -> String {
        variablePrefix + String(option.uppercased().map { $0 == "-" ? "_" : $0 })
    }

    private static func read(_ path: String) throws(FileFailure) -> [String: Value] {
        let data: Data
        do {
            data = try Data(contentsOf: URL(filePath: path))
        } catch {
            throw FileFailure(path, "cannot be read")
        }
        do {
            return try JSONDecoder().decode([String: Value].self, from: data)
        } catch let DecodingError.typeMismatch(_, context) where !context.codingPath.isEmpty {
            let name = context.codingPath[0].stringValue
            throw FileFailure(
                path, "invalid \(name): use a string, a number, a list of strings, true or false")
        } catch {
            throw FileFailure(path, "invalid settings file: the content is not a JSON object")
        }
    }

    private static func flag(_ text: String, _ name: String) throws(FileFailure) -> Value {
        switch text.lowercased() {
        case "1", "true", "yes": return .flag(true)
        case "", "0", "false", "no": return .flag(false)
        default: throw FileFailure("environment", "invalid \(name): \(text); use true or false")
        }
    }

    private static func arguments(
        _ option: String, _ kind: Kind, _ value: Value, _ place: String, _ name: String
    ) throws(FileFailure) -> [String] {
        switch (kind, value) {
        case (.flag, .flag(let isSet)): return isSet ? ["--\(option)"] : []
        case (.flag, .texts): throw FileFailure(place, "invalid \(name): use true or false")
        case (.list, .texts(let texts)): return texts.map { "--\(option)=\($0)" }
        case (_, .texts(let texts)) where texts.count == 1: return ["--\(option)=\(texts[0])"]
        default: throw FileFailure(place, "invalid \(name): use one string or number")
        }
    }
}
