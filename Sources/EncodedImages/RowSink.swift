// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// Takes the rows of a picture from a decoder and makes the picture that was asked for, or several
/// sizes of it at once.
///
/// Each of several results has the pixels that it would have alone: a decoder makes every choice that
/// depends on the size of the result by ``choose(_:)``, and results that need another choice are left
/// to another decode.
public struct RowSink: ~Copyable {
    public let limits: DecodeLimits
    /// Set when nobody waits any more; a decoder that works long between two rows asks it.
    public let cancellation: CancellationFlag?
    /// Gives back the memory of bytes of the file that the decoder has passed and does not look at
    /// again soon; `nil` if that cannot be done.
    public internal(set) var releaseInput: (@Sendable (Range<Int>) -> Void)?
    /// What the decoder says of how it does its work.
    public var report = DecodeReport()
    /// Overrides what the file says of itself.
    private let profile: ColorProfile?
    private var output: RowOutput
    private let furtherOutputs: [FurtherOutput]
    private var rowByteCount = 0
    /// A row of 16-bit samples as 8-bit ones; empty where samples have 8 bits anyway.
    private var narrowed: [UInt8] = []
    /// Takes the rows as they are, in place of a resampler.
    private let consumer: (any RowConsumer)?

    /// Plans of further outputs agree with `plan` in all that ``DecodePlan/isDecoded(like:)`` compares.
    init(
        _ plan: DecodePlan, limits: DecodeLimits, cancellation: CancellationFlag?,
        profile: ColorProfile? = nil, consumer: (any RowConsumer)? = nil,
        furtherOutputs: [FurtherOutput] = []
    ) {
        output = RowOutput(plan, profile: profile)
        self.furtherOutputs = furtherOutputs
        self.consumer = consumer
        self.profile = profile
        self.limits = limits
        self.cancellation = cancellation
    }

    /// The size of the picture as it is stored.
    public var storedSize: PixelSize { output.plan.storedSize }
    public var quality: DecodeOptions.Quality { output.plan.quality }
    public var acceptsTruncated: Bool { output.plan.acceptsTruncated }
    /// See ``DecodePlan/keepsDepth``.
    public var keepsDepth: Bool { output.plan.keepsDepth }
    /// See ``DecodePlan/verifiesChecksums``.
    public var verifiesChecksums: Bool { output.plan.verifiesChecksums }

    /// The bytes of the largest result in a format.
    public func resultByteCount(_ format: PixelFormat) -> Int {
        let plans = [output.plan] + furtherOutputs.compactMap { $0.output?.plan }
        return plans.map { PixelBuffer.byteCount(of: $0.resultSize, format) }.max() ?? 0
    }

    /// Makes a choice of the decoder that depends on the size of the result, such as how far to shrink.
    ///
    /// Called before ``begin(_:_:_:lattice:)``. Further results for which the choice would be another
    /// one are dropped from this decode.
    ///
    /// - Parameter choose: makes the choice for a plan; it depends on nothing else that may change.
    /// - Returns: the choice for the first result.
    /// - Throws: what `choose` throws for the first result.
    public mutating func choose<Choice: Equatable>(
        _ choose: (DecodePlan) throws(CodecError) -> Choice
    ) throws(CodecError) -> Choice {
        let choice = try choose(output.plan)
        for further in furtherOutputs {
            guard let plan = further.output?.plan else { continue }
            let isSame = (try? choose(plan)) == choice
            if !isSame { further.output = nil }
        }
        return choice
    }

    /// Says, before ``begin(_:_:_:lattice:)``, that the rows come from a copy of the picture that the
    /// file holds at another size.
    public mutating func decodes(copyOfSize size: PixelSize) {
        precondition(!output.hasBegun, "the rows have begun")
        output.plan = output.plan.stored(at: size)
        for further in furtherOutputs {
            guard let plan = further.output?.plan else { continue }
            further.output?.plan = plan.stored(at: size)
        }
    }

    /// The limits of what a decoder holds besides the result: its memory and that of the result together
    /// stay within ``DecodeLimits/maximumMemoryByteCount``.
    ///
    /// A decoder checks by them, before it takes memory, all that is in proportion to the picture.
    public var workLimits: DecodeLimits {
        guard consumer == nil else { return limits }
        let format: PixelFormat =
            output.plan.keepsYCbCr ? .yCbCr420 : keepsDepth ? .rgb16 : .rgb8
        var rest = limits
        rest.maximumMemoryByteCount = max(0, rest.maximumMemoryByteCount - resultByteCount(format))
        return rest
    }

    /// States what the rows will be; called once, before the first.
    ///
    /// - Parameters:
    ///   - size: the size of the picture as it will come; smaller than stored if the decoder shrinks.
    ///   - format: what the bytes of the rows mean; samples of 16 bits are rounded to 8
    ///     unless ``DecodePlan/keepsDepth`` says otherwise.
    ///   - colorProfile: which colours the numbers stand for.
    ///   - lattice: where the samples stand, if they do not each cover an equal part of the picture.
    /// - Throws: ``CodecError/limitExceeded(_:needed:allowed:)`` before any memory is taken, or
    ///   ``CodecError/malformed(reason:offset:)`` if the picture is larger than its header says.
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

    /// States what the planes of luma and colour differences will be, in place of
    /// ``begin(_:_:_:lattice:)``.
    ///
    /// They stay as they are if ``DecodePlan/keepsYCbCr`` says so, and are else joined to RGB.
    ///
    /// - Parameters:
    ///   - planes: Y, Cb and Cr by JFIF's definition, each at any resolution.
    ///   - colorProfile: which colours the RGB stands for that they make.
    /// - Throws: as ``begin(_:_:_:lattice:)`` does.
    public mutating func beginYCbCr(
        _ planes: [SourcePlane], _ colorProfile: ColorProfile
    ) throws(CodecError) {
        precondition(!output.hasBegun, "begin is called once")
        for plane in planes { try check(plane.size) }
        try checkResults { $0.yCbCrFormat }
        output.begin(planes, colorProfile)
        for further in furtherOutputs { further.output?.begin(planes, colorProfile) }
    }

    /// Checks the memory that results take; further ones that take too much are dropped.
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

    /// Checks again what comes: a decoder, and who made the file, may have had other ideas than the
    /// header.
    private func check(_ size: PixelSize) throws(CodecError) {
        try limits.check(size)
        let stored = storedSize
        guard !size.isEmpty,
            output.plan.isScalable || (size.width <= stored.width && size.height <= stored.height)
        else {
            throw .malformed(
                reason: "a picture of \(size) pixels that calls itself \(stored)", offset: 0)
        }
    }

    /// Takes the next row from the top.
    ///
    /// - Throws: ``CodecError/cancelled`` when nobody waits any more.
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

    private mutating func appendResultRow(_ row: Span<UInt8>) throws(CodecError) {
        if let consumer { return try consumer.append(row) }
        output.append(row)
        for further in furtherOutputs { further.output?.append(row) }
    }

    /// Takes the next row of a plane from the top; the planes may take turns in any way.
    ///
    /// Rows that are made into RGB wait until those of all planes are there, so planes that come
    /// one after the other take memory for two of them.
    ///
    /// - Parameters:
    ///   - row: as many samples as the plane has columns.
    ///   - plane: 0 for Y, 1 for Cb, 2 for Cr.
    /// - Throws: ``CodecError/cancelled`` when nobody waits any more, or
    ///   ``CodecError/limitExceeded(_:needed:allowed:)`` when too many rows wait.
    public mutating func append(_ row: Span<UInt8>, plane: Int) throws(CodecError) {
        if cancellation?.isCancelled == true { throw .cancelled }
        output.append(row, plane: plane)
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

    /// Forgets the rows that came and what they were to be: the picture comes again, from its first
    /// row, by other means.
    ///
    /// Only for pictures that are made smaller: rows at full size may have gone on already.
    public mutating func restart() {
        precondition(consumer == nil || rowByteCount == 0, "rows have gone on")
        output.restart()
        for further in furtherOutputs { further.output?.restart() }
        narrowed = []
        report = DecodeReport()
    }

    /// Takes rows of zeros for those that did not come.
    ///
    /// - Returns: whether it was known what rows were to come.
    mutating func fillRest() -> Bool {
        let row = [UInt8](
            repeating: 0, count: narrowed.isEmpty ? rowByteCount : narrowed.count)
        for further in furtherOutputs { _ = further.output?.fillRest(row.span) }
        return output.fillRest(row.span)
    }

    /// How many rows of the result there are, from the top as the picture is stored; 0 for planes.
    var completedRowCount: Int { mutating get { output.completedRowCount } }

    /// The result as far as its rows have come.
    var snapshot: PixelBuffer? { mutating get { output.snapshot } }

    consuming func finish() -> PixelBuffer? { output.finish() }
}
