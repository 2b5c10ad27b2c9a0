// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// One thumbnail that is to be made: from which file, to which file, in which format.
struct PlannedThumbnail: Hashable, Sendable {
    @ComparedByBytes var input: String
    @ComparedByBytes var output: String
    /// A format's name or file name extension.
    let format: String
}

/// Why nothing can be written at all: what would come out is not what anybody wants.
enum PlanError: Error, Hashable, CustomStringConvertible {
    /// A picture would be made twice.
    case sameInput(String)
    /// Two pictures would be written to the same file, so one of them would be lost.
    case sameOutput(String, inputs: [String])
    /// A thumbnail would take the place of a picture that it or another is made from.
    case overwritesInput(String)

    var description: String {
        switch self {
        case .sameInput(let input): "\(input) is named twice"
        case .sameOutput(let output, let inputs):
            "\(inputs.joined(separator: " and ")) would both be written to \(output); put into "
                + "--output what tells them apart, or make them one by one"
        case .overwritesInput(let output):
            "\(output) would take the place of a picture that is read; change --output"
        }
    }
}

/// Checks that every thumbnail gets a file of its own and that no input is lost.
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

/// Makes a folder and those above it.
///
/// - Throws: ``FileFailure`` with the system's reason, unless the folder is there already.
package func makeFolder(_ path: String) throws(FileFailure) {
    guard FileLocation(existing: path) == nil else { return }
    let (above, name) = splitFolder(path)
    if above != path, !name.isEmpty { try makeFolder(above) }
    if unsafe mkdir(path, 0o777) != 0, errno != EEXIST {
        throw FileFailure(path, lastSystemError())
    }
}

/// Where a file lies, however its path is written.
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

/// The same text for two paths of the same file, whether or not it exists yet.
private func place(of path: String) -> String {
    let (folder, file) = splitFolder(path)
    if let location = FileLocation(existing: folder) {
        return "\(location.device):\(location.inode)/\(file)"
    }
    let names = path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        .filter { $0 != "." }.joined(separator: "/")
    return path.hasPrefix("/") ? "/\(names)" : names
}
