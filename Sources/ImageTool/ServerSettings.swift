// SPDX-License-Identifier: Apache-2.0

internal import PictureCommands
internal import Foundation

/// What `calotype serve` is told by a file and by variables of the environment.
///
/// Both say what options say, by other names: `--cache-size 5GB` is `"cacheSize": "5GB"` in the file
/// and `CALOTYPE_CACHE_SIZE=5GB` in the environment. They become arguments that stand before those of
/// the command line, so that one parser knows what makes sense, and the last to speak is right.
enum ServerSettings {
    enum Kind {
        case value, list, flag
    }

    /// The options that can be set so, by their names without dashes in front.
    static let kinds: [String: Kind] = [
        "host": .value, "port": .value, "socket": .value, "cache-directory": .value,
        "cache-size": .value, "memory": .value, "log-level": .value, "formats": .value,
        "sizes": .value, "target-ssim": .value, "public-address": .value, "rate-limit": .value,
        "request-timeout": .value, "tls-certificate": .value, "tls-key": .value,
        "animation-megapixels": .value, "enlarge-megapixels": .value, "slow-megapixels": .value,
        "connections": .value, "allow-origin": .list, "allow-unsigned": .flag,
        "preset": .list, "device": .list, "source": .list, "source-limit": .value,
        "allow-network": .list,
        "bucket": .list, "s3-endpoint": .value, "s3-region": .value,
        "client-hints": .flag, "presets-only": .flag, "imgproxy": .flag, "allow-http": .flag,
        "worker-memory": .value, "metrics": .flag, "sandbox": .flag, "no-sandbox": .flag,
        "sandbox-required": .flag,
    ]

    /// A value as a file has it.
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

    /// A command line with what the settings say in front of its own options, if it starts the server.
    ///
    /// - Parameters:
    ///   - arguments: those behind the program's name.
    ///   - environment: all variables.
    /// - Returns: the arguments to be understood.
    /// - Throws: as ``arguments(file:environment:)``.
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

    /// The arguments that stand for what the file and the environment say.
    ///
    /// - Parameters:
    ///   - path: the file, if there is one.
    ///   - environment: all variables.
    /// - Returns: what is to stand before the arguments of the command line.
    /// - Throws: ``FileFailure`` with the name in the file, or the variable, that makes no sense.
    static func arguments(
        file path: String?, environment: [String: String]
    ) throws(FileFailure) -> [String] {
        var arguments: [String] = []
        if let path {
            for (name, value) in try read(path).sorted(by: { $0.key < $1.key }) {
                guard let option = kinds.keys.first(where: { fileName(of: $0) == name }) else {
                    throw FileFailure(path, "there is no setting “\(name)”")
                }
                arguments += try self.arguments(option, value, path, name)
            }
        }
        for (option, kind) in kinds.sorted(by: { $0.key < $1.key }) {
            let name = variableName(of: option)
            guard let text = environment[name] else { continue }
            let value: Value =
                switch kind {
                case .value: .texts([text])
                case .list: .texts(text.split(separator: " ").map(String.init))
                case .flag: try flag(text, name)
                }
            arguments += try self.arguments(option, value, "environment", name)
        }
        return arguments
    }

    /// `cache-size` as `cacheSize`.
    static func fileName(of option: String) -> String {
        let words = option.split(separator: "-")
        return words.dropFirst().reduce(into: String(words.first ?? "")) {
            $0 += $1.prefix(1).uppercased() + $1.dropFirst()
        }
    }

    /// `cache-size` as `CALOTYPE_CACHE_SIZE`.
    static func variableName(of option: String) -> String {
        "CALOTYPE_" + String(option.uppercased().map { $0 == "-" ? "_" : $0 })
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
            throw FileFailure(path, "“\(name)” is no text, number, list of texts, true or false")
        } catch {
            throw FileFailure(path, "not an object of JSON with a setting for each name")
        }
    }

    private static func flag(_ text: String, _ name: String) throws(FileFailure) -> Value {
        switch text.lowercased() {
        case "1", "true", "yes": return .flag(true)
        case "", "0", "false", "no": return .flag(false)
        default: throw FileFailure("environment", "\(name) is true or false, not “\(text)”")
        }
    }

    private static func arguments(
        _ option: String, _ value: Value, _ place: String, _ name: String
    ) throws(FileFailure) -> [String] {
        switch (kinds[option], value) {
        case (.flag, .flag(let isSet)): return isSet ? ["--\(option)"] : []
        case (.flag, .texts): throw FileFailure(place, "\(name) is true or false")
        case (.list, .texts(let texts)): return texts.map { "--\(option)=\($0)" }
        case (_, .texts(let texts)) where texts.count == 1: return ["--\(option)=\(texts[0])"]
        default: throw FileFailure(place, "\(name) is one text or number")
        }
    }
}
