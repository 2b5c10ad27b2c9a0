// SPDX-License-Identifier: Apache-2.0

internal import Pixels

/// An image file that is still being received.
///
/// The header is available as soon as its bytes are. ``preview()`` returns the image so far,
/// ``finish()`` the final one; in formats that allow it, both decode only new bytes. ``append(_:)``
/// decodes no pixels, so that the caller may use it on the thread that receives the bytes.
public struct IncrementalImage: ~Copyable {
    /// The received bytes.
    public private(set) var bytes: [UInt8] = []
    /// The format; `nil` until it is recognized.
    public private(set) var format: ImageFormat?
    /// The header; `nil` until its bytes are received.
    public private(set) var header: ImageHeader?

    private let codecs: CodecSet
    private let limits: DecodeLimits
    private let options: DecodeOptions
    private let cancellation: CancellationFlag?
    private var codec: (any ImageCodec)?
    private var decoder: (any IncrementalDecoder)?
    private var rows: RowSink?
    private var isDecoded = false
    /// The number of bytes at which reading the header is tried again.
    private var nextAskedByteCount = 0
    /// The number of bytes at the last preview.
    private var previewedByteCount = 0
    private var shownRowCount = 0
    private var shownPassCount = 0
    private var hasShownThumbnail = false
    private var shownRemotely: ImagePreview.Completeness?

    /// The number of bytes by which every format is recognized.
    private static let signatureByteCount = 4096
    /// The number of bytes that few headers exceed.
    private static let headerByteCount = 1 << 20

    /// A file of which no byte has been received.
    ///
    /// - Parameters:
    ///   - codecs: the known formats.
    ///   - options: the size and the form of the result.
    ///   - limits: the limits on the file.
    ///   - cancellation: cancels the work from another thread.
    public init(
        codecs: CodecSet, options: DecodeOptions = DecodeOptions(),
        limits: DecodeLimits = DecodeLimits(), cancellation: CancellationFlag? = nil
    ) {
        self.codecs = codecs
        self.options = options
        self.limits = limits
        self.cancellation = cancellation
    }

    /// Appends the next bytes of the file.
    ///
    /// - Throws: ``CodecError/unknownFormat`` if enough bytes have been received, or
    ///   ``CodecError/limitExceeded(_:needed:allowed:)``; damage is an error of ``finish()``.
    public mutating func append(_ piece: [UInt8]) throws(CodecError) {
        try limits.check(.byteCount, bytes.count + piece.count)
        bytes.append(contentsOf: piece)
        guard header == nil || header?.endsEarly == true, bytes.count >= nextAskedByteCount else {
            return
        }
        // The interval grows with the number of bytes, so that all attempts together cost a multiple of
        // the last one. A remote attempt copies all bytes; a local one is costly for long headers.
        if codecs.remoteDecoder != nil {
            nextAskedByteCount = bytes.count + bytes.count / 4
        } else if bytes.count >= Self.headerByteCount {
            nextAskedByteCount = bytes.count / 16 * 17
        }
        try readHeader()
    }

    /// Decodes the bytes since the last preview.
    ///
    /// - Returns: `nil` if no new pixels can be decoded, which many formats cannot before their end.
    /// - Throws: ``CodecError``, which further bytes cannot resolve.
    public mutating func preview() throws(CodecError) -> ImagePreview? {
        guard previewedByteCount < bytes.count, let header, !header.endsEarly, !isDecoded else {
            return nil
        }
        if let remote = codecs.remoteDecoder { return try preview(by: remote) }
        previewedByteCount = bytes.count
        try decodeOn(header)
        // The final image is the result of finish().
        if isDecoded { return nil }
        let passCount = decoder?.passCount ?? 0
        if passCount > shownPassCount {
            shownPassCount = passCount
            return try pass(header)
        }
        if let count = rows?.completedRowCount, count > shownRowCount, let image = rows?.snapshot {
            shownRowCount = count
            return ImagePreview(
                image: try codecs.finished(image, options, limits), completeness: .rows(count))
        }
        return thumbnail(header)
    }

    /// Decodes the image of a completely received file.
    ///
    /// - Returns: the image and the report.
    /// - Throws: the errors of ``ImageSource/decodedImage(_:cancellation:)``.
    public consuming func finish() throws(CodecError) -> DecodedImage {
        // A few formats are recognized by the end of the file.
        if let header, !header.endsEarly, codecs.remoteDecoder == nil,
            codecs.codec(for: bytes.span)?.format == format
        {
            // Decoding the whole file below throws the error.
            try? decodeOn(header)
            if isDecoded, let rows = rows.take() {
                var report = rows.report
                if report.decoder.isEmpty { report.decoder = format?.name ?? "" }
                if let image = rows.finish() {
                    return DecodedImage(
                        image: try codecs.finished(image, options, limits), report: report)
                }
            }
        }
        let source = try ImageSource(EncodedBytes(bytes), codecs: codecs, limits: limits)
        return try source.decodedImage(options, cancellation: cancellation)
    }

    /// Returns the preview of a remote decoder, which starts from the first byte each time.
    private mutating func preview(by remote: any RemoteDecoder) throws(CodecError) -> ImagePreview?
    {
        // Previews at growing intervals together cost a multiple of the final image.
        guard bytes.count >= previewedByteCount + previewedByteCount / 4 else { return nil }
        previewedByteCount = bytes.count
        let source = try ImageSource(EncodedBytes(bytes), codecs: codecs, limits: limits)
        guard
            let preview = try source.remotePreview(options, cancellation),
            preview.completeness != shownRemotely
        else { return nil }
        shownRemotely = preview.completeness
        return preview
    }

    private mutating func readHeader() throws(CodecError) {
        if codecs.remoteDecoder != nil { return try readHeaderRemotely() }
        if codec == nil {
            codec = codecs.codec(for: bytes.span)
            format = codec?.format
        }
        guard let codec else {
            guard bytes.count < Self.signatureByteCount else {
                throw codecs.unknownFormat(of: bytes.span)
            }
            return
        }
        let header: ImageHeader
        do throws(CodecError) {
            header = try codec.decoder.header(of: bytes.span, limits: limits)
        } catch {
            // A partial header may look damaged, but an exceeded limit remains exceeded.
            if case .limitExceeded = error { throw error }
            return
        }
        try limits.check(header)
        self.header = header
    }

    private mutating func readHeaderRemotely() throws(CodecError) {
        let source: ImageSource
        do throws(CodecError) {
            source = try ImageSource(EncodedBytes(bytes), codecs: codecs, limits: limits)
        } catch {
            switch error {
            case .empty, .malformed, .truncated: return
            case .unknownFormat where bytes.count < Self.signatureByteCount: return
            default: throw error
            }
        }
        format = source.format
        header = source.header
    }

    /// Decodes the bytes since the last call.
    private mutating func decodeOn(_ header: ImageHeader) throws(CodecError) {
        guard !isDecoded, let codec else { return }
        if rows == nil {
            // More bytes may follow; finish() decodes a truncated file.
            var options = options
            options.acceptsTruncated = false
            let plan = DecodePlan(header, options)
            try limits.check(.side, plan.resultSize.largestSide)
            rows = RowSink(plan, limits: limits, cancellation: cancellation)
            decoder = try codec.decoder.incrementalDecoder(limits: limits)
        }
        guard let decoder, var sink = rows.take() else { return }
        do throws(CodecError) {
            try decoder.decode(bytes.span, into: &sink)
            isDecoded = true
        } catch {
            guard case .truncated = error else {
                self.decoder = nil
                throw error
            }
        }
        rows = consume sink
    }

    private func pass(_ header: ImageHeader) throws(CodecError) -> ImagePreview? {
        var sink = RowSink(
            DecodePlan(header, options), limits: limits, cancellation: cancellation)
        try decoder?.drawPass(bytes.span, into: &sink)
        guard let image = sink.finish() else { return nil }
        return ImagePreview(
            image: try codecs.finished(image, options, limits), completeness: .pass(shownPassCount))
    }

    /// Returns the embedded thumbnail once, if no other preview has been returned.
    private mutating func thumbnail(_ header: ImageHeader) -> ImagePreview? {
        guard !hasShownThumbnail, shownRowCount == 0, shownPassCount == 0,
            let range = header.thumbnail, range.upperBound <= bytes.count
        else { return nil }
        hasShownThumbnail = true
        let source = try? ImageSource(EncodedBytes(bytes), codecs: codecs, limits: limits)
        guard
            let decoded = source?.decodedThumbnail(options, isLargeEnough: false, cancellation)
        else { return nil }
        return ImagePreview(image: decoded.image, completeness: .thumbnail)
    }
}
