// SPDX-License-Identifier: Apache-2.0

/// Releases the memory of a mapped file while a decoder advances through it, so that resident memory
/// does not grow with the length of the file.
package struct PassedInput: Sendable {
    /// The minimum number of bytes per release, so that short steps make no system calls.
    private static let stepByteCount = 128 << 10

    private let release: (@Sendable (Range<Int>) -> Void)?
    private var start: Int

    /// The input of a decoder.
    ///
    /// - Parameters:
    ///   - start: the offset at which the decoder begins.
    ///   - release: ``RowSink/releaseInput``.
    package init(from start: Int, _ release: (@Sendable (Range<Int>) -> Void)?) {
        self.release = release
        self.start = start
    }

    /// Releases the bytes before `offset`, which the decoder has read.
    package mutating func advance(to offset: Int) {
        guard let release, offset - start >= Self.stepByteCount else { return }
        release(start..<offset)
        start = offset
    }
}
