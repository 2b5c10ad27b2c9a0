// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// A picture file before its pixels are decoded.
///
/// Opening one tells the format from the bytes, never from a name, reads the header and checks it
/// against the limits; no pixel is decoded and no memory taken for one.
public struct ImageSource: Sendable {
    public let format: ImageFormat
    public let header: ImageHeader

    private let bytes: EncodedBytes
    private let codecs: CodecSet
    public let limits: DecodeLimits
    private let engine: Engine

    /// What decodes the picture.
    private enum Engine {
        case local(any ImageDecoder)
        case remote(any RemoteDecoder, page: Int)
    }

    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - codecs: the formats that are known.
    ///   - limits: what the file may ask for.
    /// - Throws: ``CodecError``; a broken limit before memory is taken for pixels.
    public init(
        _ bytes: EncodedBytes, codecs: CodecSet, limits: DecodeLimits = DecodeLimits()
    ) throws(CodecError) {
        try limits.check(.byteCount, bytes.count)
        if let remote = codecs.remoteDecoder {
            self = try ImageSource(try remote.prepare(bytes), page: 0, of: remote, codecs, limits)
            return
        }
        let bytes = try bytes.mapped()
        let (codec, header) = try bytes.whileUnchanged { () throws(CodecError) in
            try bytes.withBytes {
                (file) throws(CodecError) -> (any ImageCodec, ImageHeader) in
                guard let codec = codecs.codec(for: file) else {
                    throw codecs.unknownFormat(of: file)
                }
                return (codec, try codec.decoder.header(of: file, limits: limits))
            }
        }
        try self.init(bytes, codec.format, .local(codec.decoder), header, codecs, limits)
    }

    private init(
        _ bytes: EncodedBytes, page: Int, of remote: any RemoteDecoder, _ codecs: CodecSet,
        _ limits: DecodeLimits
    ) throws(CodecError) {
        let (name, header) = try bytes.whileUnchanged { () throws(CodecError) in
            try remote.header(of: RemotePicture(bytes, page: page, limits: limits))
        }
        guard let format = codecs.codecs.first(where: { $0.format.name == name })?.format else {
            throw .decoderStopped(.nonsense(reason: "a format that is not known here"))
        }
        try self.init(bytes, format, .remote(remote, page: page), header, codecs, limits)
    }

    private init(
        _ bytes: EncodedBytes, _ format: ImageFormat, _ engine: Engine,
        _ header: ImageHeader, _ codecs: CodecSet, _ limits: DecodeLimits
    ) throws(CodecError) {
        try limits.check(header)
        self.bytes = bytes
        self.codecs = codecs
        self.limits = limits
        self.header = header
        self.format = format
        self.engine = engine
    }

    /// Another of the pictures that the file holds side by side, such as a page of a document.
    ///
    /// - Parameter index: from 0, which is this one, to ``ImageHeader/pageCount``.
    /// - Returns: the picture as if it were a file of its own.
    /// - Throws: ``CodecError/unsupported(feature:)`` if there is none of that number.
    public func page(_ index: Int) throws(CodecError) -> ImageSource {
        if index == 0 { return self }
        let missing = CodecError.unsupported(feature: "page \(index + 1) of \(header.pageCount)")
        guard index > 0, index < header.pageCount else { throw missing }
        switch engine {
        case .remote(let remote, _):
            return try ImageSource(bytes, page: index, of: remote, codecs, limits)
        case .local(let first):
            guard let decoder = first.selecting(page: index) else { throw missing }
            let header = try bytes.whileUnchanged { () throws(CodecError) in
                try bytes.withBytes { file throws(CodecError) in
                    try decoder.header(of: file, limits: limits)
                }
            }
            return try ImageSource(bytes, format, .local(decoder), header, codecs, limits)
        }
    }

    /// The blocks of metadata as the file holds them; no pixel is decoded.
    public func metadata() throws(CodecError) -> MetadataBlocks {
        switch engine {
        case .remote(let remote, let page):
            let blocks = try bytes.whileUnchanged { () throws(CodecError) in
                try remote.metadata(of: RemotePicture(bytes, page: page, limits: limits))
            }
            // The remote decoder has checked what they contain.
            try limits.checkSizes(of: blocks)
            return blocks
        case .local(let decoder):
            let blocks = try bytes.whileUnchanged { () throws(CodecError) in
                try bytes.withBytes { file throws(CodecError) in
                    try decoder.metadata(of: file, limits: limits)
                }
            }
            try limits.check(blocks)
            return blocks
        }
    }

    /// The parsed metadata of the file; no pixel is decoded.
    ///
    /// With a remote decoder, the blocks never come into this process.
    public func metadataFields() throws(CodecError) -> MetadataFields {
        if case .remote(let remote, let page) = engine {
            return try bytes.whileUnchanged { () throws(CodecError) in
                try remote.metadataFields(
                    of: RemotePicture(bytes, page: page, limits: limits))
            }
        }
        return MetadataFields(try metadata())
    }

    /// The blocks of metadata that go into a picture that is made from this one; see
    /// ``MetadataBlocks/forWriting(_:_:)``.
    public func metadata(
        forWriting policy: MetadataPolicy, _ changes: PictureChanges
    ) throws(CodecError) -> MetadataBlocks {
        guard policy.kept == .all else { return MetadataBlocks() }
        if case .remote(let remote, let page) = engine {
            let blocks = try bytes.whileUnchanged { () throws(CodecError) in
                try remote.metadata(
                    of: RemotePicture(bytes, page: page, limits: limits), forWriting: policy,
                    changes)
            }
            try limits.checkSizes(of: blocks)
            return blocks
        }
        return try metadata().forWriting(policy, changes)
    }

    /// Throws if another process has written to the file since it was opened.
    ///
    /// Each function that reads the file does so itself.
    ///
    /// - Throws: ``CodecError/fileChanged``.
    package func checkUnchanged() throws(CodecError) { try bytes.checkUnchanged() }

    /// The frames of an animation, or the picture as the only one.
    ///
    /// - Parameters:
    ///   - options: the size and the form of each frame; truncated files are read up to their last
    ///     whole frame if it says so.
    ///   - cancellation: set by another thread when nobody waits any more.
    /// - Returns: what decodes them one by one.
    /// - Throws: ``CodecError``, a broken limit before memory is taken.
    public func frames(
        _ options: DecodeOptions = DecodeOptions(), cancellation: CancellationFlag? = nil
    ) throws(CodecError) -> ImageFrames {
        if case .remote(let remote, let page) = engine, header.frameCount > 1 {
            let frames = try bytes.whileUnchanged { () throws(CodecError) in
                try remote.frames(
                    of: RemotePicture(bytes, page: page, limits: limits), options,
                    byteCount: maximumByteCount(options), cancellation: cancellation)
            }
            return ImageFrames(
                frames, ResultForm(header, options), of: bytes, header, limits, cancellation)
        }
        guard header.frameCount > 1, case .local(let decoder) = engine else {
            return ImageFrames(only: self, options, cancellation)
        }
        let plan = DecodePlan(header, options)
        // What a frame takes while it is decoded comes on top of the canvas and the result.
        let (held, overflow) = compositionByteCount.addingReportingOverflow(
            resultByteCount(options))
        try limits.check(.side, plan.resultSize.largestSide)
        try limits.check(.memoryByteCount, overflow ? .max : held)
        var frameLimits = limits
        frameLimits.maximumMemoryByteCount -= held
        let reader = try bytes.whileUnchanged { () throws(CodecError) in
            try decoder.frameReader(for: bytes, limits: frameLimits)
        }
        guard let reader else { return ImageFrames(only: self, options, cancellation) }
        var formOptions = options
        formOptions.convertsToSRGB = options.convertsToSRGB && !header.colorProfile.isSRGB
        return ImageFrames(
            reader, of: bytes, header, limits, plan,
            ImageFrames.FrameForm(options: formOptions, codecs: codecs), cancellation)
    }

    /// The most bytes that ``frames(_:cancellation:)`` takes besides the frames that it gives.
    ///
    /// They are for the canvas, what it was before a frame that is taken back, and a stored frame.
    public var compositionByteCount: Int {
        header.frameCount > 1 ? 3 * PixelBuffer.byteCount(of: header.storedSize, .rgba8) : 0
    }

    /// The size as the picture is looked at, turned upright.
    public var pixelSize: PixelSize { header.pixelSize }

    /// The size of the file in bytes.
    public var byteCount: Int { bytes.count }

    /// The size that ``image(_:cancellation:)`` will answer with.
    public func resultSize(_ options: DecodeOptions) -> PixelSize {
        DecodePlan(header, options).resultSize
    }

    /// The bytes that the pixels of the result will take, stated before any memory is.
    public func resultByteCount(_ options: DecodeOptions) -> Int {
        let size = resultSize(options)
        if let format = options.pixelFormat { return PixelBuffer.byteCount(of: size, format) }
        if options.acceptsYCbCr, !header.hasAlpha, header.colorModel == .rgb {
            return PixelBuffer.byteCount(of: size, .yCbCr420)
        }
        let isDeep = options.keepsDepth && header.bitsPerComponent > 8
        let isGray = header.colorModel == .gray && !header.hasAlpha
        let format: PixelFormat =
            header.hasAlpha
            ? (isDeep ? .rgba16 : .rgba8)
            : isGray ? (isDeep ? .gray16 : .gray8) : (isDeep ? .rgb16 : .rgb8)
        return PixelBuffer.byteCount(of: size, format)
    }

    /// The most that a result can take, whatever the file turns out to be.
    func maximumByteCount(_ options: DecodeOptions) -> Int {
        // An embedded thumbnail has proportions that are rounded in another way.
        var size = resultSize(options)
        size.width += 1
        size.height += 1
        // Of small pictures planes take more than pixels, since each row of each is padded.
        let formats = [options.keepsDepth ? .rgba16 : .rgba8, .yCbCr420, options.pixelFormat]
        return formats.compactMap { $0 }.map { PixelBuffer.byteCount(of: size, $0) }.max() ?? 0
    }

    /// Decodes the picture at the size at which it is wanted.
    ///
    /// The decoder reduces as far as it can while it reads, the resampler does the rest row by row,
    /// so memory is in proportion to the result wherever the format allows it.
    ///
    /// - Parameters:
    ///   - options: the size and the form that are wanted.
    ///   - cancellation: set by another thread when nobody waits any more.
    /// - Returns: grey, RGB, or premultiplied RGBA, as the file has it; Y′CbCr only if
    ///   ``DecodeOptions/acceptsYCbCr`` allows it.
    /// - Throws: ``CodecError``, ``CodecError/truncated(byteCount:)`` even if most rows were there.
    public func image(
        _ options: DecodeOptions = DecodeOptions(), cancellation: CancellationFlag? = nil
    ) throws(CodecError) -> PixelBuffer {
        try decodedImage(options, cancellation: cancellation).image
    }

    /// Decodes the picture like ``image(_:cancellation:)`` and says how.
    ///
    /// - Parameters:
    ///   - options: the size and the form that are wanted.
    ///   - cancellation: set by another thread when nobody waits any more.
    /// - Returns: the picture and what was done for it.
    /// - Throws: ``CodecError``.
    public func decodedImage(
        _ options: DecodeOptions = DecodeOptions(), cancellation: CancellationFlag? = nil
    ) throws(CodecError) -> DecodedImage {
        if case .remote(let remote, let page) = engine {
            try limits.check(.side, resultSize(options).largestSide)
            let decoded = try bytes.whileUnchanged { () throws(CodecError) in
                try remote.image(
                    of: RemotePicture(bytes, page: page, limits: limits), options,
                    byteCount: maximumByteCount(options), cancellation: cancellation)
            }
            try ResultForm(header, options).check(decoded.image)
            return decoded
        }
        if options.embeddedThumbnail == .ifLargeEnough,
            let decoded = decodedThumbnail(options, isLargeEnough: true, cancellation)
        {
            try bytes.checkUnchanged()
            return decoded
        }
        return try decode(options, turned: header.orientation, profile: nil, cancellation)
    }

    /// Decodes the picture at several sizes in one pass over the file.
    ///
    /// Each result has exactly the pixels that ``decodedImage(_:cancellation:)`` gives: sizes for
    /// which the decoder would shrink by another factor are left out and take another pass.
    ///
    /// - Parameters:
    ///   - options: the sizes and the form that are wanted; at least one.
    ///   - cancellation: set by another thread to stop the decode.
    /// - Returns: a result for each of `options`, `nil` for those that take another pass; never for
    ///   the first.
    /// - Throws: ``CodecError``.
    public func decodedImages(
        _ options: [DecodeOptions], cancellation: CancellationFlag? = nil
    ) throws(CodecError) -> [DecodedImage?] {
        guard options.count > 1,
            options.allSatisfy({
                $0.embeddedThumbnail == .ignore && resultSize($0).largestSide <= limits.maximumSide
            })
        else {
            let first = try decodedImage(options[0], cancellation: cancellation)
            return [first] + options.dropFirst().map { _ in nil }
        }
        if case .remote(let remote, let page) = engine {
            let images = try bytes.whileUnchanged { () throws(CodecError) in
                try remote.images(
                    of: RemotePicture(bytes, page: page, limits: limits), options,
                    byteCounts: options.map(maximumByteCount), cancellation: cancellation)
            }
            for (options, decoded) in zip(options, images) {
                if let decoded { try ResultForm(header, options).check(decoded.image) }
            }
            return images
        }
        let plan = DecodePlan(header, options[0])
        let further = options.dropFirst().map { options -> FurtherOutput? in
            let other = DecodePlan(header, options)
            return other.isDecoded(like: plan) ? FurtherOutput(options, other) : nil
        }
        let first = try decode(
            options[0], plan, profile: nil, cancellation, further.compactMap(\.self))
        var results: [DecodedImage?] = [first]
        for output in further {
            guard let output, let image = output.finish() else {
                results.append(nil)
                continue
            }
            results.append(
                DecodedImage(
                    image: try codecs.finished(image, output.options, limits),
                    report: first.report))
        }
        return results
    }

    /// The thumbnail that the camera put into the file, itself a picture file.
    ///
    /// It is `nil` if there is none or it cannot be opened. Its orientation is that of the picture.
    public var embeddedThumbnail: ImageSource? {
        guard let range = header.thumbnail else { return nil }
        let copy = range.upperBound <= bytes.count ? bytes.copy(of: range) : []
        return try? ImageSource(EncodedBytes(copy), codecs: codecs, limits: limits)
    }

    /// The embedded thumbnail as it stands for the picture.
    ///
    /// - Parameters:
    ///   - options: the size and the form that are wanted of the picture.
    ///   - isLargeEnough: whether it must have as many pixels as are wanted; it may else be smaller.
    ///   - cancellation: set by another thread when nobody waits any more.
    /// - Returns: `nil` if there is none that shows the same picture.
    func decodedThumbnail(
        _ options: DecodeOptions, isLargeEnough: Bool, _ cancellation: CancellationFlag?
    ) -> DecodedImage? {
        guard options.region == nil, let thumbnail = embeddedThumbnail else { return nil }
        let wanted = DecodePlan(header, options).geometry
        let size = thumbnail.header.storedSize
        // Cameras pad thumbnails to their own proportions; a padded one would show black bars.
        let difference = abs(
            size.width * header.storedSize.height - size.height * header.storedSize.width)
        let kept = wanted.region.width / Double(header.storedSize.width)
        guard difference <= max(header.storedSize.width, header.storedSize.height),
            !isLargeEnough || Double(size.width) * kept >= Double(wanted.size.width),
            let decoded = try? thumbnail.decode(
                options, turned: header.orientation, profile: header.colorProfile, cancellation)
        else { return nil }
        var report = decoded.report
        report.decoder = "embedded thumbnail, \(report.decoder)"
        return DecodedImage(image: decoded.image, report: report)
    }

    /// Decodes elsewhere, where that is done, and gives the rows to `consumer`.
    func decodeRemotely(
        _ options: DecodeOptions, into consumer: any RowConsumer, _ cancellation: CancellationFlag?
    ) throws(CodecError) -> DecodeReport? {
        guard case .remote(let remote, let page) = engine else { return nil }
        return try bytes.whileUnchanged { () throws(CodecError) in
            try remote.rows(
                of: RemotePicture(bytes, page: page, limits: limits), options, into: consumer,
                cancellation: cancellation)
        }
    }

    /// What somebody else shows of a file that is still coming in.
    func remotePreview(
        _ options: DecodeOptions, _ cancellation: CancellationFlag?
    ) throws(CodecError) -> ImagePreview? {
        guard case .remote(let remote, let page) = engine else { return nil }
        let preview = try remote.preview(
            of: RemotePicture(bytes, page: page, limits: limits), options,
            byteCount: maximumByteCount(options), cancellation: cancellation)
        if let preview { try ResultForm(header, options).check(preview.image, anySize: true) }
        return preview
    }

    func decode(into rows: inout RowSink) throws(CodecError) {
        guard case .local(let decoder) = engine else { return }
        if bytes.descriptor != nil { rows.releaseInput = { [bytes] in bytes.release($0) } }
        do throws(CodecError) {
            try bytes.withBytes { file throws(CodecError) in
                try decoder.decode(file, into: &rows)
            }
        } catch {
            try bytes.checkUnchanged()
            throw error
        }
        try bytes.checkUnchanged()
    }

    private func decode(
        _ options: DecodeOptions, turned orientation: Orientation, profile: ColorProfile?,
        _ cancellation: CancellationFlag?
    ) throws(CodecError) -> DecodedImage {
        var header = header
        header.orientation = orientation
        if let profile { header.colorProfile = profile }
        return try decode(options, DecodePlan(header, options), profile: profile, cancellation)
    }

    private func decode(
        _ options: DecodeOptions, _ plan: DecodePlan, profile: ColorProfile?,
        _ cancellation: CancellationFlag?, _ furtherOutputs: [FurtherOutput] = []
    ) throws(CodecError) -> DecodedImage {
        try limits.check(.side, plan.resultSize.largestSide)
        var rows = RowSink(
            plan, limits: limits, cancellation: cancellation, profile: profile,
            furtherOutputs: furtherOutputs)
        do throws(CodecError) {
            try decode(into: &rows)
        } catch {
            guard case .truncated = error, options.acceptsTruncated, rows.fillRest() else {
                throw error
            }
            rows.report.problem = error
        }
        var report = rows.report
        if report.decoder.isEmpty { report.decoder = format.name }
        guard let image = rows.finish() else {
            throw .library(message: "the decoder delivered no rows")
        }
        return DecodedImage(image: try codecs.finished(image, options, limits), report: report)
    }
}
