// SPDX-License-Identifier: Apache-2.0

/// The formats whose libraries a worker loads, as its command line names them.
struct WorkerFormats: Hashable {
    private static let option = "--formats="

    /// The names of the formats; `nil` for all.
    let names: Set<String>?

    init(_ names: Set<String>?) { self.names = names }

    /// Reads the arguments of a worker.
    init(arguments: [String]) {
        names = arguments.dropFirst().first { $0.hasPrefix(Self.option) }.map { argument in
            Set(argument.dropFirst(Self.option.count).split(separator: ",").map(String.init))
        }
    }

    /// The argument of a worker that loads these libraries; none if it loads all.
    var argument: String? { names.map { Self.option + $0.sorted().joined(separator: ",") } }
}
