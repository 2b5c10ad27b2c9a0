// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// A consumer of the rows of a whole image, which then need not fit into memory.
///
/// The rows are in stored order and in the colour space of the file; see
/// ``ImageSource/decodeRows(_:into:cancellation:)``.
public protocol RowConsumer: AnyObject {
    /// Receives the description of the rows, once before the first.
    ///
    /// - Parameters:
    ///   - size: the size of the stored image.
    ///   - format: an interleaved pixel format.
    ///   - colorProfile: the colour space of the samples.
    /// - Throws: ``CodecError``, which ends the decode.
    func begin(
        _ size: PixelSize, _ format: PixelFormat, _ colorProfile: ColorProfile
    ) throws(CodecError)

    /// Receives the next row from the top.
    ///
    /// - Throws: ``CodecError``, which ends the decode.
    func append(_ row: Span<UInt8>) throws(CodecError)
}

extension ImageSource {
    /// Decodes the whole image at its own size, row by row.
    ///
    /// Memory is that of the decoder: some rows in formats that are stored in rows, the whole image
    /// in others, such as AVIF or progressive JPEG.
    ///
    /// - Parameters:
    ///   - options: only ``DecodeOptions/keepsDepth``, ``DecodeOptions/acceptsTruncated`` and
    ///     ``DecodeOptions/verifiesChecksums`` apply.
    ///   - consumer: the consumer of the rows.
    ///   - cancellation: cancels the work from another thread.
    /// - Returns: how the image was decoded.
    /// - Throws: ``CodecError``, including the errors of the consumer.
    @discardableResult
    public func decodeRows(
        _ options: DecodeOptions = DecodeOptions(), into consumer: any RowConsumer,
        cancellation: CancellationFlag? = nil
    ) throws(CodecError) -> DecodeReport {
        var stored = DecodeOptions()
        stored.appliesOrientation = false
        stored.convertsToSRGB = false
        stored.keepsDepth = options.keepsDepth
        stored.acceptsTruncated = options.acceptsTruncated
        stored.verifiesChecksums = options.verifiesChecksums
        let counter = RowCounter(consumer)
        if let report = try decodeRemotely(stored, into: counter, cancellation) {
            guard counter.isComplete else {
                throw .decoderStopped(.nonsense(reason: "rows are missing"))
            }
            return report
        }
        var rows = RowSink(
            DecodePlan(header, stored), limits: limits, cancellation: cancellation,
            consumer: counter)
        do throws(CodecError) {
            try decode(into: &rows)
        } catch {
            guard case .truncated = error, options.acceptsTruncated, counter.hasBegun else {
                throw error
            }
            rows.report.problem = error
            try counter.fillRest()
        }
        let report = rows.report
        if !counter.hasBegun, let image = rows.finish() {
            // The decoder returned planes, which were converted to pixels.
            try counter.begin(image.size, image.format, image.colorProfile)
            for y in 0..<image.size.height { try counter.append(image.row(y)) }
        }
        guard counter.isComplete else {
            throw .library(message: "the decoder did not return all rows")
        }
        return report
    }
}

/// Passes rows on and counts them.
private final class RowCounter: RowConsumer {
    private let consumer: any RowConsumer
    private var missing: Int?
    private var rowByteCount = 0

    init(_ consumer: any RowConsumer) { self.consumer = consumer }

    var hasBegun: Bool { missing != nil }
    var isComplete: Bool { missing == 0 }

    func begin(
        _ size: PixelSize, _ format: PixelFormat, _ colorProfile: ColorProfile
    ) throws(CodecError) {
        missing = size.height
        rowByteCount = size.width * format.bytesPerPixel
        try consumer.begin(size, format, colorProfile)
    }

    func append(_ row: Span<UInt8>) throws(CodecError) {
        guard let missing, missing > 0 else { return }
        self.missing = missing - 1
        try consumer.append(row)
    }

    func fillRest() throws(CodecError) {
        let row = [UInt8](repeating: 0, count: rowByteCount)
        while !isComplete { try append(row.span) }
    }
}
