// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// Takes the rows of a whole picture as they are decoded, so that it need never be in memory.
///
/// Rows come as they are stored, in the colours of their profile; see
/// ``ImageSource/decodeRows(_:into:cancellation:)``.
public protocol RowConsumer: AnyObject {
    /// Hears what the rows will be; called once, before the first.
    ///
    /// - Parameters:
    ///   - size: the size of the picture as it comes, not turned.
    ///   - format: a format of one plane.
    ///   - colorProfile: which colours the numbers stand for.
    /// - Throws: ``CodecError``, which ends the decode.
    func begin(
        _ size: PixelSize, _ format: PixelFormat, _ colorProfile: ColorProfile
    ) throws(CodecError)

    /// Takes the next row from the top.
    ///
    /// - Throws: ``CodecError``, which ends the decode.
    func append(_ row: Span<UInt8>) throws(CodecError)
}

extension ImageSource {
    /// Decodes the whole picture at its own size, row by row.
    ///
    /// Memory is that of the decoder: some rows for formats that are stored in rows, the whole
    /// picture for those that are not, such as AVIF or a progressive JPEG. Of the options those
    /// count that say what is accepted, not what is made: depth, truncated files and checksums.
    ///
    /// - Parameters:
    ///   - options: what is accepted; the box, the orientation and the form are not looked at.
    ///   - consumer: what takes the rows.
    ///   - cancellation: set by another thread when nobody waits any more.
    /// - Returns: how the picture was decoded.
    /// - Throws: ``CodecError``, also what the consumer throws.
    @discardableResult
    public func decodeRows(
        _ options: DecodeOptions = DecodeOptions(), into consumer: any RowConsumer,
        cancellation: CancellationFlag? = nil
    ) throws(CodecError) -> DecodeReport {
        var stored = DecodeOptions()
        stored.appliesOrientation = false
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
            // Planes of luma and colour differences, which were joined to a picture.
            try counter.begin(image.size, image.format, image.colorProfile)
            for y in 0..<image.size.height { try counter.append(image.row(y)) }
        }
        guard counter.isComplete else {
            throw .library(message: "the decoder did not deliver all rows")
        }
        return report
    }
}

/// Passes rows on and knows whether they were all there.
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
