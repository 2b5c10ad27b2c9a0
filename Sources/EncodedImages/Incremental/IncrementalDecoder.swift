// SPDX-License-Identifier: Apache-2.0

/// Decodes one picture while its bytes come in, each of them once.
///
/// It keeps what it has read of the file and where it stopped, so it belongs to one file.
public protocol IncrementalDecoder: AnyObject {
    /// How many versions of the whole picture there have been, each better than the one before it:
    /// scans of a progressive JPEG, passes of an interlaced PNG.
    ///
    /// It stays 0 where rows only come from the top.
    var passCount: Int { get }

    /// Decodes on from where the last call stopped.
    ///
    /// - Parameters:
    ///   - bytes: what is there of the file, from its first byte; at each call the same and more.
    ///   - rows: takes the rows of the picture, as ``ImageDecoder/decode(_:into:)`` gives them; the
    ///     same at each call.
    /// - Throws: ``CodecError/truncated(byteCount:)`` when it cannot go on without more bytes, or
    ///   another ``CodecError``, after which it is not used any more.
    func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError)

    /// Draws the newest version of the whole picture, which may be reduced.
    ///
    /// - Parameters:
    ///   - bytes: as at the last call of ``decode(_:into:)``.
    ///   - rows: takes the rows of this version.
    /// - Throws: ``CodecError``.
    func drawPass(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError)
}
