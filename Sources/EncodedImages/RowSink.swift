// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// Takes the rows of a picture from a decoder and makes the picture that was asked for.
public struct RowSink: ~Copyable {
    /// What was asked for; the decoder chooses by it how far to shrink.
    public let plan: DecodePlan
    public let limits: DecodeLimits
    /// Set when nobody waits any more; a decoder that works long between two rows asks it.
    public let cancellation: CancellationFlag?
    /// What the decoder says of how it does its work.
    public var report = DecodeReport()
    /// Overrides what the file says of itself.
    private let profile: ColorProfile?
    private var resampler: RowResampler?
    private var rowByteCount = 0
    /// A row of 16-bit samples as 8-bit ones; empty where samples have 8 bits anyway.
    private var narrowed: [UInt8] = []
    private var planes: YCbCrResampler?

    init(
        _ plan: DecodePlan, limits: DecodeLimits, cancellation: CancellationFlag?,
        profile: ColorProfile? = nil
    ) {
        self.plan = plan
        self.profile = profile
        self.limits = limits
        self.cancellation = cancellation
    }

    /// States what the rows will be; called once, before the first.
    ///
    /// - Parameters:
    ///   - size: the size of the picture as it will come; smaller than stored if the decoder shrinks.
    ///   - format: what the bytes of the rows mean; samples of 16 bits are rounded to 8
    ///     unless ``DecodePlan/keepsDepth`` says otherwise.
    ///   - colorProfile: which colours the numbers stand for.
    ///   - lattice: where the samples stand, if they do not each cover an equal part of the picture.
    /// - Throws: ``CodecError/limitExceeded(_:needed:allowed:)`` before any memory is taken.
    public mutating func begin(
        _ size: PixelSize, _ format: PixelFormat, _ colorProfile: ColorProfile,
        lattice: SampleLattice? = nil
    ) throws(CodecError) {
        precondition(resampler == nil && planes == nil, "begin is called once")
        let result = plan.keepsDepth ? format : format.with8BitChannels
        try limits.check(.memoryByteCount, PixelBuffer.byteCount(of: plan.resultSize, result))
        rowByteCount = size.width * format.bytesPerPixel
        if result != format {
            narrowed = Array(repeating: 0, count: size.width * result.bytesPerPixel)
        }
        resampler = RowResampler(
            from: size, result,
            // A shrunk side is rounded up; the picture ends where it really ends.
            region: lattice?.region(plan.geometry.region)
                ?? plan.geometry.region.scaled(
                    horizontally: scale(size.width, plan.storedSize.width),
                    vertically: scale(size.height, plan.storedSize.height)),
