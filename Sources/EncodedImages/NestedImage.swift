// SPDX-License-Identifier: Apache-2.0

internal import Pixels

extension ImageDecoder {
    /// Decodes an image file that is nested in another one, separately from its rows.
    ///
    /// A decoder whose only image is a nested file passes its ``RowSink`` on instead.
    ///
    /// - Parameters:
    ///   - file: the bytes of the nested file alone.
    ///   - options: the size and the form of the result; colours are not converted.
    ///   - limits: the limits on the nested file.
    ///   - cancellation: cancels the work from another thread.
    /// - Returns: the image and the report.
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
            throw .library(message: "the decoder returned no rows")
        }
        return DecodedImage(image: image, report: report)
    }
}
