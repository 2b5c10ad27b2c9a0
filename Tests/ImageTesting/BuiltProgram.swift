// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Returns the URL of a program of this package, in the build folder of the tests.
public func builtProgram(_ name: String) -> URL? {
    guard let tests = CommandLine.arguments.first(where: { $0.contains(".xctest") }) else {
        return nil
    }
    var folder = URL(filePath: tests).deletingLastPathComponent()
    while folder.path != "/" {
        let program = folder.appending(path: name)
        if FileManager.default.isExecutableFile(atPath: program.path) { return program }
        folder = folder.deletingLastPathComponent()
    }
    return nil
}
