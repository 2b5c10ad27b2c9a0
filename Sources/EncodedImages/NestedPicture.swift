// SPDX-License-Identifier: Apache-2.0

internal import Pixels

extension ImageDecoder {
    /// Decodes a picture file that stands inside of another one, apart from the rows of that one.
    ///
    /// A decoder whose only picture is such a file hands its ``RowSink`` on instead.
    ///
    /// - Parameters:
    ///   - file: the bytes of the inner file alone.
    ///   - options: the size and the form that are wanted; colours are not converted.
    ///   - limits: what the inner file may ask for, checked on its header.
    ///   - cancellation: set by another thread when nobody waits any more.
    /// - Returns: the picture and what was done for it.
    /// - Throws: ``CodecError``.
    public func decodedImage(
        nested file: Span<UInt8>, _ options: DecodeOptions, limits: DecodeLimits,
        cancellation: CancellationFlag?
    ) throws(CodecError) -> DecodedImage {
        let header = try header(of: file, limits: limits)
        try limits.check(header.storedSize)
        var rows = RowSink(
            DecodePlan(header, options), limits: limits, cancellation: cancellation)
        do throws(CodecError) {
            try decode(file, into: &rows)
        } catch {
            guard case .truncated = error, options.acceptsTruncated, rows.fillRest() else {
                throw error
            }
            rows.report.problem = error
        }
        let report = rows.report
        guard let image = rows.finish() else {
            throw .library(message: "the decoder delivered no rows")
        }
        return DecodedImage(image: image, report: report)
    }
}
