// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import DecoderSandbox
internal import EncodedImages
internal import Pixels

/// Programs for textures that are unmaintained or not free, and whose options scripts use.
///
/// The command answers to their names: as the name of a link to it, or as its first argument.
package enum OldTextureTool: String {
    /// Imagination's tool, with the options of its help.
    case pvrTexTool = "PVRTexToolCL"
    /// Apple's tool, with the options of its help.
    case textureTool = "texturetool"

    /// The tool that a command line names, with its arguments; `nil` if it names none.
    package static func named(
        by arguments: [String]
    ) -> (tool: OldTextureTool, arguments: ArraySlice<String>)? {
        let names = [arguments.first.map { splitFolder($0).file }, arguments.dropFirst().first]
        for (index, name) in names.enumerated() {
            guard let name else { continue }
            // Later versions of the program have another name.
            let isLater = name == "PVRTexToolCLI"
            if let tool = isLater ? .pvrTexTool : OldTextureTool(rawValue: name) {
                return (tool, arguments.dropFirst(index + 1))
            }
        }
        return nil
    }

    /// Runs the tool; reports errors on standard error.
    ///
    /// - Returns: the exit code: 1 for a file that cannot be read or written, 64 for arguments that are
    ///   not supported.
    package func run(_ arguments: ArraySlice<String>) -> Int32 {
        var arguments = OldToolArguments(arguments)
        do {
            if arguments.isEmpty || ["-h", "-help"].contains(arguments.first) {
                print(self == .pvrTexTool ? PVRTexTool.help : TextureTool.help)
                return arguments.isEmpty ? 64 : 0
            }
            switch self {
            case .pvrTexTool: try PVRTexTool(&arguments).run()
            case .textureTool: try TextureTool(&arguments).run()
            }
            return 0
        } catch let error as OldToolError {
            writeToStandardError("\(rawValue): \(error.message)\n")
            return 64
        } catch let failure as FileFailure {
            writeToStandardError("\(rawValue): \(failure)\n")
        } catch {
            // The sandbox has reported why it cannot start.
        }
        return 1
    }
}

/// Arguments that a tool does not support.
struct OldToolError: Error {
    let message: String
}

/// The arguments of a tool that are not read yet.
struct OldToolArguments {
    private var rest: ArraySlice<String>

    init(_ arguments: ArraySlice<String>) { rest = arguments }

    var isEmpty: Bool { rest.isEmpty }
    var first: String { rest.first ?? "" }

    mutating func next() -> String? { rest.popFirst() }

    /// Reads the value of an option.
    mutating func value(of option: String) throws(OldToolError) -> String {
        guard let value = optionalValue() else {
            throw OldToolError(message: "\(option) requires a value")
        }
        return value
    }

    /// Reads the next argument unless it is an option; a minus sign alone is a value.
    mutating func optionalValue() -> String? {
        guard let value = rest.first, value == "-" || !value.hasPrefix("-") else { return nil }
        return rest.popFirst()
    }
}

/// Decodes the image of a tool in the sandbox.
func withOldToolImage(
    _ path: String, _ body: (PixelBuffer) throws -> Void
) throws {
    let (codecs, sandbox) = try SandboxArguments.parse([]).decoding(workerCount: 1)
    defer { sandbox?.close() }
    try body(try decodedTexels(path, codecs))
}
