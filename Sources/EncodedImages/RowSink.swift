// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// Receives the rows of a decoder and makes one result, or several of different sizes.
///
/// Each of several results has the pixels that it would have alone. A decoder makes every choice that
/// depends on the size of the result in ``choose(_:)``; results that need another choice need another
/// decode.
public struct RowSink: ~Copyable {
    /// The limits on the file.
    public let limits: DecodeLimits
    /// Whether the decode is cancelled; a decoder checks it if a row takes long.
    public let cancellation: CancellationFlag?
    /// Releases the memory of bytes of the file that the decoder has read; `nil` if it is not mapped.
    public internal(set) var releaseInput: (@Sendable (Range<Int>) -> Void)?
    /// The index of the file, or of another one; `nil` if all rows are needed.
    public internal(set) var index: ImageIndex? {
        get { consumer == nil ? givenIndex : nil }
        set { givenIndex = newValue }
    }
    private var givenIndex: ImageIndex?
    /// How the image is decoded; the decoder sets it.
    public var report = DecodeReport()
    /// Overrides the profile of the file.
    private let profile: ColorProfile?
    private var output: RowOutput
    private let furtherOutputs: [FurtherOutput]
    /// Keeps the planes for further results; `nil` if they are not wanted.
    private let planeCollector: PlaneCollector?
    /// The number of calls of ``choose(_:)``.
    private var choiceCount = 0
    private var rowByteCount = 0
    /// A row that is converted from 16 to 8 bits; empty if no conversion is needed.
    private var narrowed: [UInt8] = []
    /// Receives the rows unchanged, instead of a resampler.
    private let consumer: (any RowConsumer)?

    /// Plans of further outputs agree with `plan` in all that ``DecodePlan/isDecoded(like:)`` compares.
    init(
        _ plan: DecodePlan, limits: DecodeLimits, cancellation: CancellationFlag?,
        profile: ColorProfile? = nil, consumer: (any RowConsumer)? = nil,
        furtherOutputs: [FurtherOutput] = [], planeCollector: PlaneCollector? = nil
    ) {
        output = RowOutput(plan, profile: profile)
        self.furtherOutputs = furtherOutputs
        self.planeCollector = planeCollector
        self.consumer = consumer
        self.profile = profile
        self.limits = limits
        self.cancellation = cancellation
    }

    /// The size of the stored image.
    public var storedSize: PixelSize { output.plan.storedSize }
    /// See ``DecodePlan/quality``.
    public var quality: DecodeOptions.Quality { output.plan.quality }
    /// See ``DecodePlan/acceptsTruncated``.
    public var acceptsTruncated: Bool { output.plan.acceptsTruncated }
    /// See ``DecodePlan/keepsDepth``.
    public var keepsDepth: Bool { output.plan.keepsDepth }
    /// See ``DecodePlan/verifiesChecksums``.
    public var verifiesChecksums: Bool { output.plan.verifiesChecksums }

    /// Returns the size of the largest result in a pixel format, in bytes.
    public func resultByteCount(_ format: PixelFormat) -> Int {
        let plans = [output.plan] + furtherOutputs.compactMap { $0.output?.plan }
        return plans.map { PixelBuffer.byteCount(of: $0.resultSize, format) }.max() ?? 0
    }

    /// Makes a choice that depends on the size of the result, such as the shrink factor.
    ///
    /// The decoder calls it before ``begin(_:_:_:lattice:)``. Further results for which `choose`
    /// returns another value are dropped from this decode, unless they share it
    /// (``DecodeOptions/sharesDecode``).
    ///
    /// - Parameter choose: returns the choice for a plan, on which alone it depends.
    /// - Returns: the choice for the first result.
    /// - Throws: the error of `choose` for the first result.
    public mutating func choose<Choice: Equatable>(
        _ choose: (DecodePlan) throws(CodecError) -> Choice
    ) throws(CodecError) -> Choice {
        choiceCount += 1
        let choice = try choose(output.plan)
        for further in furtherOutputs {
            guard let plan = further.output?.plan else { continue }
            let isSame = (try? choose(plan)) == choice
            if !isSame, !plan.shares(decodeOf: output.plan) { further.output = nil }
        }
        return choice
    }

    /// States that the rows will be those of a copy of the image that is stored at another size.
    ///
    /// - Precondition: ``begin(_:_:_:lattice:)`` has not been called.
    public mutating func decodes(copyOfSize size: PixelSize) {
        changePlans { $0.stored(at: size) }
    }

    /// States that the rows will be those of a part of the image, with all that the result needs.
    ///
    /// - Precondition: ``begin(_:_:_:lattice:)`` has not been called.
    public mutating func decodes(only part: PixelRect) {
        changePlans { $0.cut(to: part) }
    }

    private mutating func changePlans(_ change: (DecodePlan) -> DecodePlan) {
        precondition(!output.hasBegun, "the rows have begun")
        // The planes would be those of the copy or part.
        choiceCount += 1
        output.plan = change(output.plan)
        for further in furtherOutputs {
            guard let plan = further.output?.plan else { continue }
            further.output?.plan = change(plan)
        }
    }

    /// The limits without the memory of the result.
    ///
    /// A decoder checks every buffer whose size depends on the file against them before it allocates
    /// the buffer.
    public var workLimits: DecodeLimits {
        guard consumer == nil else { return limits }
        let format: PixelFormat =
            output.plan.keepsYCbCr ? .yCbCr420 : keepsDepth ? .rgb16 : .rgb8
        var rest = limits
        rest.maximumMemoryByteCount = max(0, rest.maximumMemoryByteCount - resultByteCount(format))
        return rest
    }

    /// Describes the rows; the decoder calls it once, before the first row.
    ///
    /// - Parameters:
    ///   - size: the size of the decoded image; smaller than stored if the decoder shrinks.
    ///   - format: the format of the rows; samples of 16 bits are rounded to 8 unless
    ///     ``DecodePlan/keepsDepth`` is set.
    ///   - colorProfile: the colour space of the samples.
    ///   - lattice: the positions of the samples, unless each covers an equal part of the image.
    /// - Throws: ``CodecError/limitExceeded(_:needed:allowed:)`` before any memory is allocated, or
    ///   ``CodecError/malformed(reason:offset:)`` if the image is larger than its header states.
    public mutating func begin(
        _ size: PixelSize, _ format: PixelFormat, _ colorProfile: ColorProfile,
        lattice: SampleLattice? = nil
    ) throws(CodecError) {
        precondition(!output.hasBegun, "begin is called once")
        try check(size)
        let result = keepsDepth ? format : format.with8BitChannels
        if consumer == nil { try checkResults { _ in result } }
        rowByteCount = size.width * format.bytesPerPixel
        if result != format {
            narrowed = Array(repeating: 0, count: size.width * result.bytesPerPixel)
        }
        if let consumer {
            return try consumer.begin(size, result, profile ?? colorProfile)
        }
        output.begin(size, result, colorProfile, lattice: lattice)
        for further in furtherOutputs {
            further.output?.begin(size, result, colorProfile, lattice: lattice)
        }
    }

    /// Describes planes of luma and chroma, instead of ``begin(_:_:_:lattice:)``.
    ///
    /// They are converted to RGB unless ``DecodePlan/keepsYCbCr`` is set.
    ///
    /// - Parameters:
    ///   - planes: Y, Cb and Cr as JFIF defines them, each at any resolution.
    ///   - colorProfile: the colour space of the RGB that they represent.
    ///   - reductions: returns the values of ``DecodePlan/reduction(ofChroma:)`` for luma at which the decoder
    ///     makes the same planes as for a plan. Further results may then be made of the planes.
    /// - Throws: the errors of ``begin(_:_:_:lattice:)``.
    public mutating func beginYCbCr(
        _ planes: [SourcePlane], _ colorProfile: ColorProfile,
        reductions: ((DecodePlan) -> Range<Double>)? = nil
    ) throws(CodecError) {
        precondition(!output.hasBegun, "begin is called once")
        for plane in planes { try check(plane.size) }
        try checkResults { $0.yCbCrFormat }
        output.begin(planes, colorProfile)
        for further in furtherOutputs { further.output?.begin(planes, colorProfile) }
        if choiceCount == 1, let planeCollector, let reductions {
            planeCollector.begin(planes, output.plan, reductions(output.plan))
        }
    }

    /// Returns the rows that contribute to a result: of a plane, or of interleaved rows.
    ///
    /// The decoder appends all rows, but the samples of the others do not matter.
    ///
    /// - Precondition: the rows have begun.
    package mutating func usedRows(ofPlane plane: Int = 0) -> Range<Int> {
        guard consumer == nil, planeCollector?.isCollecting != true else { return 0..<Int.max }
        var rows = output.usedRows(ofPlane: plane)
        for further in furtherOutputs {
            guard let more = further.output?.usedRows(ofPlane: plane) else { continue }
            rows = min(rows.lowerBound, more.lowerBound)..<max(rows.upperBound, more.upperBound)
        }
        return rows
    }

    /// Checks the memory of the results; further results that exceed the limit are dropped.
    private func checkResults(_ format: (DecodePlan) -> PixelFormat) throws(CodecError) {
        func byteCount(_ plan: DecodePlan) -> Int {
            PixelBuffer.byteCount(of: plan.resultSize, format(plan))
        }
        try limits.check(.memoryByteCount, byteCount(output.plan))
        for further in furtherOutputs {
            guard let plan = further.output?.plan else { continue }
            if byteCount(plan) > limits.maximumMemoryByteCount { further.output = nil }
        }
    }

    /// Checks the decoded size, which may contradict the header.
    private func check(_ size: PixelSize) throws(CodecError) {
        try limits.check(size)
        let stored = storedSize
        guard !size.isEmpty,
            output.plan.isScalable || (size.width <= stored.width && size.height <= stored.height)
        else {
            throw .malformed(
                reason: "decoded size \(size) does not match the size \(stored) in the header",
                offset: 0)
        }
    }

    /// Appends the next row from the top.
    ///
    /// - Throws: ``CodecError/cancelled``, or the error of a consumer.
    public mutating func append(_ row: Span<UInt8>) throws(CodecError) {
        if cancellation?.isCancelled == true { throw .cancelled }
        guard !narrowed.isEmpty else { return try appendResultRow(row) }
        var samples: [UInt8] = []
        swap(&samples, &narrowed)
        var result = samples.mutableSpan
        row.narrowSamples(into: &result)
        try appendResultRow(samples.span)
        swap(&samples, &narrowed)
    }

    /// Appends a row of zeros, for a row whose data is damaged.
    ///
    /// - Throws: the errors of ``append(_:)``.
    public mutating func appendMissingRow() throws(CodecError) {
        try append([UInt8](repeating: 0, count: rowByteCount).span)
    }

    private mutating func appendResultRow(_ row: Span<UInt8>) throws(CodecError) {
        if let consumer { return try consumer.append(row) }
        output.append(row)
        for further in furtherOutputs { further.output?.append(row) }
    }

    /// Prepares for pixels in any order, such as those of an interlaced image, instead of rows.
    ///
    /// The decoder calls it after ``begin(_:_:_:lattice:)``. Results that are much smaller than the
    /// image are made from sums of blocks of pixels.
    ///
    /// - Parameter maximumByteCount: the maximum memory of the sums, in bytes.
    /// - Returns: whether pixels are accepted in any order; otherwise the decoder appends rows.
    public mutating func beginUnordered(maximumByteCount: Int) -> Bool {
        guard consumer == nil, narrowed.isEmpty, let first = output.beginUnordered() else {
            return false
        }
        var byteCount = first
        for further in furtherOutputs where further.output != nil {
            guard let more = further.output?.beginUnordered() else { return false }
            byteCount += more
        }
        return byteCount <= min(maximumByteCount, workLimits.maximumMemoryByteCount)
    }

    /// Appends pixels at equal distances in a row, after ``beginUnordered(maximumByteCount:)``.
    ///
    /// - Parameters:
    ///   - pixels: the pixels in the format of the rows.
    ///   - y: the row.
    ///   - column: the column of the first pixel.
    ///   - step: the number of columns from one pixel to the next.
    /// - Throws: ``CodecError/cancelled``.
    public mutating func append(
        _ pixels: Span<UInt8>, y: Int, from column: Int, step: Int
    ) throws(CodecError) {
        if cancellation?.isCancelled == true { throw .cancelled }
        output.append(pixels, y: y, from: column, step: step)
        for further in furtherOutputs {
            further.output?.append(pixels, y: y, from: column, step: step)
        }
    }

    /// States that all pixels have been appended, each once.
    public mutating func finishUnordered() {
        output.finishUnordered()
        for further in furtherOutputs { further.output?.finishUnordered() }
    }

    /// Appends the next row of a plane from the top, in any order of planes.
    ///
    /// Rows are buffered until those of all planes exist, if they are converted to RGB. Planes that
    /// are appended one after the other need memory for two of them.
    ///
    /// - Parameters:
    ///   - row: a sample for each column of the plane.
    ///   - plane: 0 for Y, 1 for Cb, 2 for Cr.
    /// - Throws: ``CodecError/cancelled``, or ``CodecError/limitExceeded(_:needed:allowed:)`` if too
    ///   many rows are buffered.
    public mutating func append(_ row: Span<UInt8>, plane: Int) throws(CodecError) {
        if cancellation?.isCancelled == true { throw .cancelled }
        output.append(row, plane: plane)
        planeCollector?.append(row, plane: plane)
        try checkWaiting(output.plan, output.waitingByteCount)
        for further in furtherOutputs {
            further.output?.append(row, plane: plane)
            guard let plan = further.output?.plan else { continue }
            try checkWaiting(plan, further.output?.waitingByteCount ?? 0)
        }
    }

    private func checkWaiting(_ plan: DecodePlan, _ byteCount: Int) throws(CodecError) {
        guard byteCount > 0 else { return }
        let result = PixelBuffer.byteCount(of: plan.resultSize, plan.yCbCrFormat)
        try limits.check(.memoryByteCount, result + byteCount)
    }

    /// Whether ``restart()`` may be called at any time: no rows are passed to a consumer.
    public var canRestart: Bool { consumer == nil }

    /// Discards the rows and their description, so that another decoder can start from the first row.
    ///
    /// - Precondition: no row has been passed to a consumer.
    public mutating func restart() {
        precondition(consumer == nil || rowByteCount == 0, "rows have been passed on")
        output.restart()
        for further in furtherOutputs { further.output?.restart() }
        planeCollector?.restart()
        narrowed = []
        report = DecodeReport()
    }

    /// Appends rows of zeros until the result is complete.
    ///
    /// - Returns: whether interleaved rows have begun.
    mutating func fillRest() -> Bool {
        let row = [UInt8](
            repeating: 0, count: narrowed.isEmpty ? rowByteCount : narrowed.count)
        for further in furtherOutputs { _ = further.output?.fillRest(row.span) }
        return output.fillRest(row.span)
    }

    /// The number of complete rows of the result in stored order; 0 for planes.
    var completedRowCount: Int { mutating get { output.completedRowCount } }

    /// The result with zeros for missing rows.
    var snapshot: PixelBuffer? { mutating get { output.snapshot } }

    consuming func finish() -> PixelBuffer? { output.finish() }
}
