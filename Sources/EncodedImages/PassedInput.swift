// SPDX-License-Identifier: Apache-2.0

/// Gives the memory of a file back while a decoder goes through it, so that a file that is mapped
/// does not take the more of it the longer it is.
package struct PassedInput: Sendable {
    /// As many bytes at least are given back at a time, so that short steps do not call the system.
    private static let stepByteCount = 128 << 10

    private let release: (@Sendable (Range<Int>) -> Void)?
    private var start: Int

    /// - Parameters:
    ///   - start: where the decoder begins in the file.
    ///   - release: ``RowSink/releaseInput``.
    package init(from start: Int, _ release: (@Sendable (Range<Int>) -> Void)?) {
        self.release = release
        self.start = start
    }

    /// Says that the decoder has passed what is before `offset`.
    package mutating func advance(to offset: Int) {
        guard let release, offset - start >= Self.stepByteCount else { return }
        release(start..<offset)
        start = offset
    }
}
