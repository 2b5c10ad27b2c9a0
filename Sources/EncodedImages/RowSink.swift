// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// Takes the rows of a picture from a decoder and makes the picture that was asked for.
public struct RowSink: ~Copyable {
    /// What was asked for; the decoder chooses by it how far to shrink.
    public private(set) var plan: DecodePlan
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
    private var resampler: RowResampler?
    private var rowByteCount = 0
    /// A row of 16-bit samples as 8-bit ones; empty where samples have 8 bits anyway.
    private var narrowed: [UInt8] = []
    private var planes: YCbCrResampler?
    /// Takes the rows as they are, in place of a resampler.
    private let consumer: (any RowConsumer)?

    init(
        _ plan: DecodePlan, limits: DecodeLimits, cancellation: CancellationFlag?,
        profile: ColorProfile? = nil, consumer: (any RowConsumer)? = nil
    ) {
        self.plan = plan
        self.consumer = consumer
        self.profile = profile
        self.limits = limits
        self.cancellation = cancellation
    }

    /// Says, before ``begin(_:_:_:)``, that the rows come from a copy of the picture that the file
    /// holds at another size.
    public mutating func decodes(copyOfSize size: PixelSize) {
        precondition(resampler == nil && planes == nil, "the rows have begun")
        plan = plan.stored(at: size)
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
        precondition(resampler == nil && planes == nil, "begin is called once")
        try check(size)
        let result = plan.keepsDepth ? format : format.with8BitChannels
        if consumer == nil {
            try limits.check(.memoryByteCount, PixelBuffer.byteCount(of: plan.resultSize, result))
        }
        rowByteCount = size.width * format.bytesPerPixel
        if result != format {
            narrowed = Array(repeating: 0, count: size.width * result.bytesPerPixel)
        }
        if let consumer {
            return try consumer.begin(size, result, profile ?? colorProfile)
        }
        resampler = RowResampler(
            from: size, result,
            // A shrunk side is rounded up; the picture ends where it really ends.
            region: lattice?.region(plan.geometry.region)
                ?? plan.geometry.region.scaled(
                    horizontally: scale(size.width, plan.storedSize.width),
                    vertically: scale(size.height, plan.storedSize.height)),
            to: plan.geometry.size, kernel: plan.kernel, orientation: plan.orientation,
            colorProfile: profile ?? colorProfile)
    }

    /// States what the planes of luma and colour differences will be, in place of
    /// ``begin(_:_:_:)``.
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
        precondition(resampler == nil && self.planes == nil, "begin is called once")
        for plane in planes { try check(plane.size) }
        try limits.check(
            .memoryByteCount, PixelBuffer.byteCount(of: plan.resultSize, yCbCrFormat))
        self.planes = YCbCrResampler(
            from: planes, region: plan.geometry.region, to: plan.geometry.size, yCbCrFormat,
            kernel: plan.kernel, orientation: plan.orientation,
            colorProfile: profile ?? colorProfile)
    }

    /// Checks again what comes: a decoder, and who made the file, may have had other ideas than the
    /// header.
    private func check(_ size: PixelSize) throws(CodecError) {
        try limits.check(size)
        let stored = plan.storedSize
        guard !size.isEmpty,
            plan.isScalable || (size.width <= stored.width && size.height <= stored.height)
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
        guard !narrowed.isEmpty else {
            if let consumer { return try consumer.append(row) }
            resampler?.append(row)
            return
        }
        var samples: [UInt8] = []
        swap(&samples, &narrowed)
        var result = samples.mutableSpan
        row.narrowSamples(into: &result)
        if let consumer {
            try consumer.append(samples.span)
        } else {
            resampler?.append(samples.span)
        }
        swap(&samples, &narrowed)
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
        planes?.append(row, plane: plane)
        let waiting = planes?.waitingByteCount ?? 0
        if waiting > 0 {
            let result = PixelBuffer.byteCount(of: plan.resultSize, yCbCrFormat)
            try limits.check(.memoryByteCount, result + waiting)
        }
    }

    /// Forgets the rows that came and what they were to be: the picture comes again, from its first
    /// row, by other means.
    ///
    /// Only for pictures that are made smaller: rows at full size may have gone on already.
    public mutating func restart() {
        precondition(consumer == nil || rowByteCount == 0, "rows have gone on")
        resampler = nil
        planes = nil
        narrowed = []
        report = DecodeReport()
    }

    /// Takes rows of zeros for those that did not come.
    ///
    /// - Returns: whether it was known what rows were to come.
    mutating func fillRest() -> Bool {
        guard resampler != nil else { return false }
        let row = [UInt8](
            repeating: 0, count: narrowed.isEmpty ? rowByteCount : narrowed.count)
        while resampler?.isComplete == false { resampler?.append(row.span) }
        return true
    }

    /// How many rows of the result there are, from the top as the picture is stored; 0 for planes.
    var completedRowCount: Int { mutating get { resampler?.completedRowCount ?? 0 } }

    /// The result as far as its rows have come.
    var snapshot: PixelBuffer? { mutating get { resampler?.snapshot } }

    consuming func finish() -> PixelBuffer? {
        if let planes = planes.take() { return planes.isComplete ? planes.finish() : nil }
        guard let resampler = resampler.take(), resampler.isComplete else { return nil }
        return resampler.finish()
    }

    private var yCbCrFormat: PixelFormat { plan.keepsYCbCr ? .yCbCr420 : .rgb8 }

    /// What a side was reduced by: a power of two where that leads to `size`, else what it looks like.
    private func scale(_ size: Int, _ stored: Int) -> Double {
        // What can be drawn at any size was drawn at this one.
        if plan.isScalable { return Double(size) / Double(stored) }
        var factor = 1
        while (stored + factor - 1) / factor > size { factor *= 2 }
        return (stored + factor - 1) / factor == size
            ? 1 / Double(factor) : Double(size) / Double(stored)
    }
}
