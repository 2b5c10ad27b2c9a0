// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// An open image file whose pixels have not been decoded.
///
/// Opening recognizes the format by the bytes, never by a name, reads the header and checks it
/// against the limits. No pixel is decoded and no memory is allocated for pixels.
public struct ImageSource: Sendable {
    /// The format of the file.
    public let format: ImageFormat
    /// The header, which is within the limits.
    public let header: ImageHeader

    let bytes: EncodedBytes
    let codecs: CodecSet
    /// The limits on the file.
    public let limits: DecodeLimits
    /// The index of the file, with which a region is decoded without the pixels before it.
    ///
    /// Results are the same with and without it. It is used for regions at full size, and ignored if it
    /// is the index of another file.
    public var index: ImageIndex? {
        didSet {
            guard case .remote(let remote, _) = engine else { return }
            // Without it, the region is decoded from the top.
            remoteIndex = index.flatMap { try? remote.prepare(EncodedBytes($0.bytes)) }
        }
    }
    /// The bytes of the index, as the remote decoder receives them.
    private var remoteIndex: EncodedBytes?
    let engine: Engine

    /// The decoder, in this process or another one.
    enum Engine {
        case local(any ImageDecoder)
        case remote(any RemoteDecoder, page: Int)
    }

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - codecs: the known formats.
    ///   - limits: the limits on the file.
    /// - Throws: ``CodecError``; an exceeded limit before memory is allocated for pixels.
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
            try remote.header(of: RemoteImage(bytes, page: page, limits: limits))
        }
        let format = try codecs.format(named: name)
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

    /// Opens another page of the file.
    ///
    /// - Parameter index: from 0, which is this page, to less than ``ImageHeader/pageCount``.
    /// - Returns: the page, as if it were a file of its own.
    /// - Throws: ``CodecError/unsupported(feature:)`` for any other index.
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

    /// Reads the blocks of metadata; no pixel is decoded.
    ///
    /// - Throws: ``CodecError``.
    public func metadata() throws(CodecError) -> MetadataBlocks {
        switch engine {
        case .remote(let remote, let page):
            let blocks = try bytes.whileUnchanged { () throws(CodecError) in
                try remote.metadata(of: RemoteImage(bytes, page: page, limits: limits))
            }
            // The remote decoder has checked their contents.
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

    /// Reads and parses the metadata; no pixel is decoded.
    ///
    /// A remote decoder parses the blocks itself; they never enter this process.
    ///
    /// - Throws: ``CodecError``.
    public func metadataFields() throws(CodecError) -> MetadataFields {
        if case .remote(let remote, let page) = engine {
            return try bytes.whileUnchanged { () throws(CodecError) in
                try remote.metadataFields(
                    of: RemoteImage(bytes, page: page, limits: limits))
            }
        }
        return MetadataFields(try metadata())
    }

    /// Returns the metadata for an image that is made from this one; see
    /// ``MetadataBlocks/forWriting(_:_:)``.
    ///
    /// - Throws: ``CodecError``.
    public func metadata(
        forWriting policy: MetadataPolicy, _ changes: ImageChanges
    ) throws(CodecError) -> MetadataBlocks {
        guard policy.kept == .all else { return MetadataBlocks() }
        if case .remote(let remote, let page) = engine {
            let blocks = try bytes.whileUnchanged { () throws(CodecError) in
                try remote.metadata(
                    of: RemoteImage(bytes, page: page, limits: limits), forWriting: policy,
                    changes)
            }
            try limits.checkSizes(of: blocks)
            return blocks
        }
        return try metadata().forWriting(policy, changes)
    }

    /// Reads the gain map; no pixel is decoded.
    ///
    /// A damaged map counts as absent, since the image is complete without it.
    ///
    /// - Returns: `nil` if the file contains none.
    /// - Throws: ``CodecError`` if the file cannot be read.
    public func gainMap() throws(CodecError) -> GainMap? {
        guard header.hasGainMap else { return nil }
        return try bytes.whileUnchanged { () throws(CodecError) in
            switch engine {
            case .remote(let remote, let page):
                try remote.gainMap(of: RemoteImage(bytes, page: page, limits: limits))
            case .local(let decoder):
                try bytes.withBytes { file throws(CodecError) in
                    try decoder.gainMap(of: file, limits: limits)
                }
            }
        }
    }

    /// Returns a tile as a JPEG file with its stored samples, without decoding it.
    ///
    /// The file describes neither the orientation nor the colour space of the image.
    ///
    /// - Parameter tile: a part of the stored image at its own or a reduced resolution.
    /// - Returns: `nil` unless the file stores exactly this part as a JPEG image.
    /// - Throws: ``CodecError``.
    public func jpegTile(_ tile: StoredTile) throws(CodecError) -> [UInt8]? {
        try jpegTiles([tile])[0]
    }

    /// Returns several tiles like ``jpegTile(_:)``, in less time than one by one.
    ///
    /// - Parameter tiles: at most ``StoredTile/maximumCount`` tiles.
    /// - Returns: a file for each of `tiles`; `nil` also for a damaged tile.
    /// - Throws: ``CodecError``.
    public func jpegTiles(_ tiles: [StoredTile]) throws(CodecError) -> [[UInt8]?] {
        precondition(
            tiles.count <= StoredTile.maximumCount,
            "\(tiles.count) tiles, at most \(StoredTile.maximumCount) are read at once")
        guard header.jpegTileSize != nil else { return tiles.map { _ in nil } }
        return try bytes.whileUnchanged { () throws(CodecError) in
            switch engine {
            case .remote(let remote, let page):
                try remote.jpegTiles(tiles, of: RemoteImage(bytes, page: page, limits: limits))
            case .local(let decoder):
                try bytes.withBytes { file throws(CodecError) in
                    try decoder.jpegTiles(tiles, of: file, limits: limits)
                }
            }
        }
    }

    /// Returns tiles of a file whose header has been read and checked before.
    ///
    /// - Throws: ``CodecError``.
    package static func jpegTiles(
        _ tiles: [StoredTile], of bytes: EncodedBytes, page: Int, codecs: CodecSet,
        limits: DecodeLimits
    ) throws(CodecError) -> [[UInt8]?] {
        try bytes.withBytes { file throws(CodecError) in
            guard let first = codecs.codec(for: file)?.decoder,
                let decoder = page == 0 ? first : first.selecting(page: page)
            else { return tiles.map { _ in nil } }
            return try decoder.jpegTiles(tiles, of: file, limits: limits)
        }
    }

    /// Checks that no other process has written to the file since it was opened.
    ///
    /// Every function that reads the file checks it, too.
    ///
    /// - Throws: ``CodecError/fileChanged``.
    package func checkUnchanged() throws(CodecError) { try bytes.checkUnchanged() }

    /// Returns the frames of an animation; a still image has one.
    ///
    /// - Parameters:
    ///   - options: the size and the form of each frame. With
    ///     ``DecodeOptions/acceptsTruncated``, a truncated file ends after its last whole frame.
    ///   - cancellation: cancels the work from another thread.
    /// - Returns: the frames, which are decoded one by one.
    /// - Throws: ``CodecError``; an exceeded limit before memory is allocated.
    public func frames(
        _ options: DecodeOptions = DecodeOptions(), cancellation: CancellationFlag? = nil
    ) throws(CodecError) -> ImageFrames {
        if case .remote(let remote, let page) = engine, header.frameCount > 1 {
            let frames = try bytes.whileUnchanged { () throws(CodecError) in
                try remote.frames(
                    of: RemoteImage(bytes, page: page, limits: limits), options,
                    byteCount: maximumByteCount(options), cancellation: cancellation)
            }
            return ImageFrames(
                frames, ResultForm(header, options), of: bytes, header, limits, cancellation)
        }
        guard header.frameCount > 1, case .local(let decoder) = engine else {
            return ImageFrames(only: self, options, cancellation)
        }
        let plan = DecodePlan(header, options)
        // The memory for decoding a frame is in addition to the canvas and the result.
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

    /// The maximum memory of ``frames(_:cancellation:)`` in addition to the returned frames, in bytes.
    ///
    /// It holds the canvas, its contents before a frame that is undone, and one stored frame.
    public var compositionByteCount: Int {
        header.frameCount > 1 ? 3 * PixelBuffer.byteCount(of: header.storedSize, .rgba8) : 0
    }

    /// The size of the upright image.
    public var pixelSize: PixelSize { header.pixelSize }

    /// The size of the file in bytes.
    public var byteCount: Int { bytes.count }

    /// Returns the size of the result of ``image(_:cancellation:)``.
    public func resultSize(_ options: DecodeOptions) -> PixelSize {
        DecodePlan(header, options).resultSize
    }

    /// Returns the size of the pixels of the result in bytes, before any are allocated.
    ///
    /// It includes 16-bit samples that are converted to sRGB before they are reduced to 8 bits.
    public func resultByteCount(_ options: DecodeOptions) -> Int {
        let plan = DecodePlan(header, options)
        let size = plan.resultSize
        let isDeep = plan.keepsDepth && header.bitsPerComponent > 8
        let isReduced = isDeep && !options.keepsDepth && options.pixelFormat?.isDeep != true
        var format = options.pixelFormat ?? storedFormat(isDeep: isDeep && !isReduced)
        if options.pixelFormat == nil, options.acceptsYCbCr, !isReduced, !header.hasAlpha,
            header.colorModel == .rgb
        {
            format = .yCbCr420
        }
        let byteCount = PixelBuffer.byteCount(of: size, format)
        guard isReduced else { return byteCount }
        let (sum, isTooMuch) = byteCount.addingReportingOverflow(
            PixelBuffer.byteCount(of: size, storedFormat(isDeep: true)))
        return isTooMuch ? .max : sum
    }

    /// Returns the format of stored pixels, whose samples have 16 bits if `isDeep` is set.
    private func storedFormat(isDeep: Bool) -> PixelFormat {
        if header.hasAlpha { return isDeep ? .rgba16 : .rgba8 }
        if header.colorModel == .gray { return isDeep ? .gray16 : .gray8 }
        return isDeep ? .rgb16 : .rgb8
    }

    /// Returns the maximum size of the pixels of any valid result in bytes.
    func maximumByteCount(_ options: DecodeOptions) -> Int {
        // The aspect ratio of an embedded thumbnail is rounded differently.
        var size = resultSize(options)
        size.width += 1
        size.height += 1
        // Planes of small images are larger than pixels, since each row of each plane is padded.
        let formats = [options.keepsDepth ? .rgba16 : .rgba8, .yCbCr420, options.pixelFormat]
        return formats.compactMap { $0 }.map { PixelBuffer.byteCount(of: size, $0) }.max() ?? 0
    }

    /// Decodes the image at the size of the options.
    ///
    /// The decoder shrinks as far as it can, and the resampler reduces the rest row by row. Memory
    /// is proportional to the result in formats that allow it.
    ///
    /// - Parameters:
    ///   - options: the size and the form of the result.
    ///   - cancellation: cancels the work from another thread.
    /// - Returns: grey, RGB or premultiplied RGBA, like the file; Y′CbCr only with
    ///   ``DecodeOptions/acceptsYCbCr``.
    /// - Throws: ``CodecError``; ``CodecError/truncated(byteCount:)`` even if most rows exist.
    public func image(
        _ options: DecodeOptions = DecodeOptions(), cancellation: CancellationFlag? = nil
    ) throws(CodecError) -> PixelBuffer {
        try decodedImage(options, cancellation: cancellation).image
    }

    /// Decodes the image like ``image(_:cancellation:)`` and returns how it was decoded.
    ///
    /// - Parameters:
    ///   - options: the size and the form of the result.
    ///   - cancellation: cancels the work from another thread.
    /// - Returns: the image and the report.
    /// - Throws: ``CodecError``.
    public func decodedImage(
        _ options: DecodeOptions = DecodeOptions(), cancellation: CancellationFlag? = nil
    ) throws(CodecError) -> DecodedImage {
        if case .remote(let remote, let page) = engine {
            try limits.check(.side, resultSize(options).largestSide)
            var image = RemoteImage(bytes, page: page, limits: limits)
            if options.region != nil { image.index = remoteIndex }
            let decoded = try bytes.whileUnchanged { () throws(CodecError) in
                try remote.image(
                    of: image, options, byteCount: maximumByteCount(options),
                    cancellation: cancellation)
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

    /// The thumbnail that a camera embedded in the file; `nil` if it is missing or invalid.
    ///
    /// Its orientation is that of the image.
    public var embeddedThumbnail: ImageSource? {
        guard let range = header.thumbnail else { return nil }
        let copy = range.upperBound <= bytes.count ? bytes.copy(of: range) : []
        return try? ImageSource(EncodedBytes(copy), codecs: codecs, limits: limits)
    }

    /// Decodes the embedded thumbnail instead of the image.
    ///
    /// - Parameters:
    ///   - options: the size and the form of the result.
    ///   - isLargeEnough: whether the thumbnail must have as many pixels as the result.
    ///   - cancellation: cancels the work from another thread.
    /// - Returns: `nil` unless a thumbnail of the same aspect ratio exists.
    func decodedThumbnail(
        _ options: DecodeOptions, isLargeEnough: Bool, _ cancellation: CancellationFlag?
    ) -> DecodedImage? {
        guard options.region == nil, let thumbnail = embeddedThumbnail else { return nil }
        var options = options
        options.acceptsTruncated = false
        let wanted = DecodePlan(header, options).geometry
        let size = thumbnail.header.storedSize
        // A thumbnail that the camera padded to another aspect ratio would show black bars.
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

    /// Decodes remotely and passes the rows to `consumer`; `nil` without a remote decoder.
    func decodeRemotely(
        _ options: DecodeOptions, into consumer: any RowConsumer, _ cancellation: CancellationFlag?
    ) throws(CodecError) -> DecodeReport? {
        guard case .remote(let remote, let page) = engine else { return nil }
        return try bytes.whileUnchanged { () throws(CodecError) in
            try remote.rows(
                of: RemoteImage(bytes, page: page, limits: limits), options, into: consumer,
                cancellation: cancellation)
        }
    }

    /// Returns the preview of a partly received file; `nil` without a remote decoder.
    func remotePreview(
        _ options: DecodeOptions, _ cancellation: CancellationFlag?
    ) throws(CodecError) -> ImagePreview? {
        guard case .remote(let remote, let page) = engine else { return nil }
        let preview = try remote.preview(
            of: RemoteImage(bytes, page: page, limits: limits), options,
            byteCount: maximumByteCount(options), cancellation: cancellation)
        if let preview { try ResultForm(header, options).check(preview.image, anySize: true) }
        return preview
    }

    /// Makes an index of the file in one pass over its data, for ``index``.
    ///
    /// - Parameter cancellation: cancels the work from another thread.
    /// - Returns: `nil` if the format or the coding of the file needs no index or allows none, or if the
    ///   file is damaged.
    /// - Throws: ``CodecError``.
    public func makeIndex(
        cancellation: CancellationFlag? = nil
    ) throws(CodecError) -> ImageIndex? {
        try bytes.whileUnchanged { () throws(CodecError) in
            switch engine {
            case .remote(let remote, let page):
                try remote.makeIndex(
                    of: RemoteImage(bytes, page: page, limits: limits),
                    maximumByteCount: ImageIndex.maximumByteCount(header.storedSize),
                    cancellation: cancellation)
            case .local(let decoder):
                try bytes.withBytes { file throws(CodecError) in
                    try decoder.makeIndex(
                        of: file, limits: limits, cancellation: cancellation,
                        releaseInput: releaseInput)
                }
            }
        }
    }

    private var releaseInput: (@Sendable (Range<Int>) -> Void)? {
        guard bytes.descriptor != nil else { return nil }
        return { [bytes] in bytes.release($0) }
    }

    func decode(into rows: inout RowSink) throws(CodecError) {
        guard case .local(let decoder) = engine else { return }
        rows.releaseInput = releaseInput
        rows.index = index
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

    func decode(
        _ options: DecodeOptions, _ plan: DecodePlan, profile: ColorProfile?,
        _ cancellation: CancellationFlag?, _ furtherOutputs: [FurtherOutput] = [],
        _ planeCollector: PlaneCollector? = nil
    ) throws(CodecError) -> DecodedImage {
        try limits.check(.side, plan.resultSize.largestSide)
        var rows = RowSink(
            plan, limits: limits, cancellation: cancellation, profile: profile,
            furtherOutputs: furtherOutputs, planeCollector: planeCollector)
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
            throw .library(message: "the decoder returned no rows")
        }
        return DecodedImage(
            image: try codecs.finished(consume image, options, limits), report: report)
    }
}
