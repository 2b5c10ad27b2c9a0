// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// One or more paths, or URLs, that are parsed as a single positional argument.
///
/// swift-argument-parser copies the array of a repeated argument for each of its values. With
/// 20,000 files that took ten seconds; ``groupingPaths(_:)`` joins them to one value.
package struct PathGroup: ExpressibleByArgument, Hashable, Sendable {
    /// No argument of a process contains this byte.
    fileprivate static let separator: UInt8 = 0

    package let paths: [String]

    /// Splits a value that ``groupingPaths(_:)`` joined; any other value is a single path.
    package init(argument: String) {
        paths = argument.utf8
            .split(separator: Self.separator, omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
    }
}

extension [PathGroup] {
    /// The paths of all groups, in the order of the command line.
    ///
    /// Complexity: O(*n*) in the number of paths.
    package var paths: [String] { flatMap(\.paths) }
}

/// Joins adjacent positional arguments of commands that accept any number of paths.
///
/// The parser's results, its errors and the meaning of `--` stay the same: an argument that begins
/// with a dash, or that may be the value of an option in front of it, is not joined.
///
/// - Parameter arguments: The arguments after the program's name.
/// - Returns: The arguments to parse. Their number depends on the number of options, not of paths.
package func groupingPaths(_ arguments: [String]) -> [String] {
    guard let command = arguments.first, ["info", "sheet", "sign", "thumbnail"].contains(command)
    else {
        return arguments
    }
    var result = [command]
    var group: [String] = []
    // Of the next arguments, the number that may be values of the last option.
    var optionValueCount = 0
    var isTerminated = false
    func endGroup() {
        guard !group.isEmpty else { return }
        let separator = String(UnicodeScalar(PathGroup.separator))
        result.append(group.joined(separator: separator))
        group = []
    }
    for argument in arguments.dropFirst() {
        if argument.utf8.first == UInt8(ascii: "-"), !isTerminated {
            endGroup()
            result.append(argument)
            isTerminated = argument == "--"
            // `-oj` is two options, each of which may have a value.
            optionValueCount =
                isTerminated ? 0 : argument.hasPrefix("--") ? 1 : max(1, argument.utf8.count - 1)
        } else if optionValueCount > 0 {
            optionValueCount -= 1
            result.append(argument)
        } else {
            group.append(argument)
        }
    }
    endGroup()
    return result
}
