// SPDX-License-Identifier: Apache-2.0

internal import Pixels

/// Where the samples of a reduced picture stand on the whole one.
///
/// A mean of four pixels stands in their middle. The smaller pictures that a wavelet holds are made
/// of every second, fourth, … pixel and its neighbours, and each sample stands where that pixel does.
public struct SampleLattice: Hashable, Sendable {
    /// The stored pixel, from 0, that the first column and the first row stand on.
    public var first: (x: Int, y: Int) { (firstX, firstY) }
    /// Stored pixels from one sample to the next.
    public let step: Int
    private let firstX: Int
    private let firstY: Int

    public init(first: (x: Int, y: Int), step: Int) {
        precondition(step >= 1, "samples stand beside each other")
        self.step = step
        firstX = first.x
        firstY = first.y
    }

    /// A part of the whole picture, in samples of the reduced one.
    func region(_ region: SampleRegion) -> SampleRegion {
        let step = Double(step)
        // The middle of a pixel or a sample is half of one away from where it begins.
        return SampleRegion(
            x: (region.x - Double(firstX) - 0.5) / step + 0.5,
            y: (region.y - Double(firstY) - 0.5) / step + 0.5,
            width: region.width / step, height: region.height / step)
    }
}
