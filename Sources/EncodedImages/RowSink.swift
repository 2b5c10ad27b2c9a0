// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// Takes the rows of a picture from a decoder and makes the picture that was asked for.
public struct RowSink: ~Copyable {
    /// What was asked for; the decoder chooses by it how far to shrink.
    public let plan: DecodePlan
    public let limits: DecodeLimits
    /// Set when nobody waits any more; a decoder that works long between two rows asks it.
    public let cancellation: CancellationFlag?
    /// Overrides what the file says of itself.
    private let profile: ColorProfile?
    private var resampler: RowResampler?

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
    ///   - format: what the bytes of the rows mean.
    ///   - colorProfile: which colours the numbers stand for.
    /// - Throws: ``CodecError/limitExceeded(_:needed:allowed:)`` before any memory is taken.
    public mutating func begin(
        _ size: PixelSize, _ format: PixelFormat, _ colorProfile: ColorProfile
    ) throws(CodecError) {
        precondition(resampler == nil, "begin is called once")
        try limits.check(.memoryByteCount, PixelBuffer.byteCount(of: plan.resultSize, format))
        resampler = RowResampler(
            from: size, format,
            // A shrunk side is rounded up; the picture ends where it really ends.
            region: plan.geometry.region.scaled(
                horizontally: scale(size.width, plan.storedSize.width),
                vertically: scale(size.height, plan.storedSize.height)),
            to: plan.geometry.size, kernel: plan.kernel, orientation: plan.orientation,
            colorProfile: profile ?? colorProfile)
    }

    /// Takes the next row from the top.
    ///
    /// - Throws: ``CodecError/cancelled`` when nobody waits any more.
    public mutating func append(_ row: Span<UInt8>) throws(CodecError) {
        if cancellation?.isCancelled == true { throw .cancelled }
        resampler?.append(row)
    }

    consuming func finish() -> PixelBuffer? {
        guard let resampler = resampler.take(), resampler.isComplete else { return nil }
        return resampler.finish()
    }

    /// 1 ÷ the decoder's factor, which is the power of two that leads to the size.
    private func scale(_ size: Int, _ stored: Int) -> Double {
        var factor = 1
        while (stored + factor - 1) / factor > size { factor *= 2 }
        return 1 / Double(factor)
    }
}
