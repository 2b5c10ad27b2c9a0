// SPDX-License-Identifier: Apache-2.0

/// A decoder of one file that is still being received; it decodes each byte once.
public protocol IncrementalDecoder: AnyObject {
    /// The number of complete versions of the whole image: scans of a progressive JPEG, or passes of an
    /// interlaced PNG.
    ///
    /// It remains 0 for files whose rows are stored from the top.
    var passCount: Int { get }

    /// Resumes decoding where the last call stopped.
    ///
    /// - Parameters:
    ///   - bytes: the received bytes from the first one; those of the last call and more.
    ///   - rows: receives the rows as from ``ImageDecoder/decode(_:into:)``; the same at each call.
    /// - Throws: ``CodecError/truncated(byteCount:)`` if more bytes are needed, or another
    ///   ``CodecError``, after which the caller discards the decoder.
    func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError)

    /// Decodes the newest version of the whole image, which may be shrunk.
    ///
    /// - Parameters:
    ///   - bytes: the bytes of the last call of ``decode(_:into:)``.
    ///   - rows: receives the rows of this version.
    /// - Throws: ``CodecError``.
    func drawPass(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError)
}
