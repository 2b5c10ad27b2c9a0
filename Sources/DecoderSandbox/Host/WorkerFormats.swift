// SPDX-License-Identifier: Apache-2.0

/// The formats whose libraries a worker loads, as its command line names them.
enum WorkerFormats {
    private static let option = "--format="

    /// Returns the argument of a worker that loads the library of a format; of no format if the name is
    /// empty.
    static func argument(for format: String) -> String { option + format }

    /// Returns the formats that the arguments of a worker name; `nil` for all.
    static func named(in arguments: [String]) -> Set<String>? {
        guard let argument = arguments.dropFirst().first(where: { $0.hasPrefix(option) }) else {
            return nil
        }
        let format = String(argument.dropFirst(option.count))
        return format.isEmpty ? [] : [format]
    }
}
