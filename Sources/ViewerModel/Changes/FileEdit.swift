// SPDX-License-Identifier: Apache-2.0

/// A change of some bytes of a file.
package struct FileEdit: Hashable, Sendable {
    /// The bytes that are replaced; empty to insert.
    package let range: Range<Int>
    /// The bytes that replace them.
    package let bytes: [UInt8]

    /// Returns a file with the change; the range must lie within the file.
    package func applied(to file: [UInt8]) -> [UInt8] {
        var file = file
        file.replaceSubrange(range, with: bytes)
        return file
    }

    /// Returns the change of the result that restores a file.
    package func reverse(in file: [UInt8]) -> FileEdit {
        FileEdit(
            range: range.lowerBound..<range.lowerBound + bytes.count, bytes: Array(file[range]))
    }
}
