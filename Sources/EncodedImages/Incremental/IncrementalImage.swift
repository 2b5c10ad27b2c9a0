// SPDX-License-Identifier: Apache-2.0

internal import Pixels

/// A picture file that is still coming in.
///
/// The header is known as soon as its bytes are there. ``preview()`` shows what there is to be seen
/// so far, ``finish()`` gives the picture; both decode only what was not decoded before, where the
/// format allows it. Taking bytes in decodes nothing, so it may be done where they arrive.
public struct IncrementalImage: ~Copyable {
    /// What is there of the file.
    public private(set) var bytes: [UInt8] = []
    /// `nil` until the bytes tell it.
    public private(set) var format: ImageFormat?
    /// `nil` until its bytes are there.
    public private(set) var header: ImageHeader?

    private let codecs: CodecSet
    private let limits: DecodeLimits
    private let options: DecodeOptions
    private let cancellation: CancellationFlag?
    private var codec: (any ImageCodec)?
    private var decoder: (any IncrementalDecoder)?
    private var rows: RowSink?
    private var isDecoded = false
    /// With how many bytes they are asked for the header again.
    private var nextAskedByteCount = 0
    /// Up to which byte there is nothing new to show.
    private var previewedByteCount = 0
    private var shownRowCount = 0
    private var shownPassCount = 0
    private var hasShownThumbnail = false
    private var shownRemotely: ImagePreview.Completeness?

    /// Bytes that are enough to know any format by.
    private static let signatureByteCount = 4096
    /// Headers are seldom longer.
    private static let headerByteCount = 1 << 20

    /// - Parameters:
    ///   - codecs: the formats that are known.
    ///   - options: the size and the form that are wanted.
    ///   - limits: what the file may ask for.
    ///   - cancellation: set by another thread when nobody waits any more.
    public init(
        codecs: CodecSet, options: DecodeOptions = DecodeOptions(),
        limits: DecodeLimits = DecodeLimits(), cancellation: CancellationFlag? = nil
    ) {
        self.codecs = codecs
        self.options = options
        self.limits = limits
        self.cancellation = cancellation
    }

    /// Takes the next bytes of the file.
    ///
    /// - Throws: ``CodecError/unknownFormat`` once there are enough bytes to say so, or a broken
    ///   limit; damage comes to light when the picture is decoded.
    public mutating func append(_ piece: [UInt8]) throws(CodecError) {
        try limits.check(.byteCount, bytes.count + piece.count)
        bytes.append(contentsOf: piece)
        guard header == nil || header?.endsEarly == true, bytes.count >= nextAskedByteCount else {
            return
        }
        // All attempts together cost some times the last, however small the pieces: elsewhere, where
        // each costs a copy of all bytes, from the start on, here only of a long header.
        if codecs.remoteDecoder != nil {
            nextAskedByteCount = bytes.count + bytes.count / 4
        } else if bytes.count >= Self.headerByteCount {
            nextAskedByteCount = bytes.count / 16 * 17
        }
        try readHeader()
    }

    /// What is to be seen of the picture that the last preview did not show.
    ///
    /// - Returns: `nil` if there is nothing new, or the format shows nothing before its end.
    /// - Throws: ``CodecError``; more bytes do not mend it.
    public mutating func preview() throws(CodecError) -> ImagePreview? {
        guard previewedByteCount < bytes.count, let header, !header.endsEarly, !isDecoded else {
            return nil
        }
        if let remote = codecs.remoteDecoder { return try preview(by: remote) }
        previewedByteCount = bytes.count
        try decodeOn(header)
        // What there is now is the picture itself.
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

    /// The picture, now that the file is whole.
    ///
    /// - Returns: the picture and what was done for it.
    /// - Throws: ``CodecError``, as ``ImageSource/decodedImage(_:cancellation:)`` does.
    public consuming func finish() throws(CodecError) -> DecodedImage {
        // A few formats are told from others by the end of the file.
        if let header, !header.endsEarly, codecs.remoteDecoder == nil,
            codecs.codec(for: bytes.span)?.format == format
        {
            // What went wrong is said by those who decode the whole file.
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

    /// What somebody else makes of the bytes, from the first one each time.
    private mutating func preview(by remote: any RemoteDecoder) throws(CodecError) -> ImagePreview?
    {
        // All previews together cost some times the picture, however small the pieces are.
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
            // A part of a header may look damaged; a limit stays broken whatever follows.
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
            case .malformed, .truncated: return
            case .unknownFormat where bytes.count < Self.signatureByteCount: return
            default: throw error
            }
        }
        format = source.format
        header = source.header
    }

    /// Decodes what has come in since the last time.
    private mutating func decodeOn(_ header: ImageHeader) throws(CodecError) {
        guard !isDecoded, let codec else { return }
        if rows == nil {
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

    /// The embedded thumbnail, once, as long as nothing else is there.
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
