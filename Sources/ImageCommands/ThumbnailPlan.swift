// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Glibc

/// A thumbnail to create.
struct PlannedThumbnail: Hashable, Sendable {
    @ComparedByBytes var input: String
    @ComparedByBytes var output: String
    /// The name or an extension of the output format.
    let format: String
}

/// The reason why a plan is rejected as a whole, before any file is written.
enum PlanError: Error, Hashable, CustomStringConvertible {
    /// An input is listed twice.
    case sameInput(String)
    /// Two thumbnails have the same output.
    case sameOutput(String, inputs: [String])
    /// An output is an input of this or another thumbnail.
    case overwritesInput(String)

    var description: String {
        switch self {
        case .sameInput(let input): "duplicate input: \(input)"
        case .sameOutput(let output, let inputs):
            "\(inputs.joined(separator: " and ")) have the same output: \(output); end --output with "
                + "a slash to write into a folder, or use more placeholders"
        case .overwritesInput(let output):
            "an input would be overwritten: \(output); change --output"
        }
    }
}

/// Checks that all outputs differ and that no input is overwritten.
///
/// Complexity: O(*n*) in the number of thumbnails.
func check(_ plan: [PlannedThumbnail], inputs: [String]) throws(PlanError) {
    let originals = Set(inputs.compactMap(FileLocation.init(existing:)))
    var inputsByPlace: [ComparedByBytes: String] = [:]
    for thumbnail in plan {
        if let existing = FileLocation(existing: thumbnail.output), originals.contains(existing) {
            throw .overwritesInput(thumbnail.output)
        }
        let place = ComparedByBytes(place(of: thumbnail.output))
        if let other = inputsByPlace.updateValue(thumbnail.input, forKey: place) {
            let input = thumbnail.input
            if let place = FileLocation(existing: input), place == FileLocation(existing: other) {
                throw .sameInput(input)
            }
            throw .sameOutput(thumbnail.output, inputs: [other, input])
        }
    }
}

/// Creates a folder, if it does not exist, and its parent folders.
///
/// - Parameters:
///   - path: The path of the folder.
///   - mode: The permissions of the folders that are created.
/// - Throws: ``FileFailure`` with the error of the system.
package func makeFolder(_ path: String, mode: UInt32 = 0o777) throws(FileFailure) {
    guard FileLocation(existing: path) == nil else { return }
    let (above, name) = splitFolder(path)
    if above != path, !name.isEmpty { try makeFolder(above, mode: mode) }
    if unsafe mkdir(path, mode_t(mode)) != 0, errno != EEXIST {
        throw FileFailure(path, lastSystemError())
    }
}

/// The identity of a file, independent of its path.
private struct FileLocation: Hashable {
    let device: UInt64
    let inode: UInt64

    init?(existing path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }
}

/// Returns the same text for all paths of a file, which may not exist yet.
private func place(of path: String) -> String {
    let (folder, file) = splitFolder(path)
    if let location = FileLocation(existing: folder) {
        return "\(location.device):\(location.inode)/\(file)"
    }
    let names = path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        .filter { $0 != "." }.joined(separator: "/")
    return path.hasPrefix("/") ? "/\(names)" : names
}
