// SPDX-License-Identifier: Apache-2.0

internal import Pixels

/// The positions of the samples of a reduced image on the full-size one.
///
/// The mean of four pixels is centred between them. The reduced images of a wavelet are made of every
/// second, fourth, … pixel and its neighbours, and each sample has the position of that pixel.
public struct SampleLattice: Hashable, Sendable {
    /// The distance between samples in stored pixels.
    public let step: Int
    /// The stored pixel, from 0, of the first column and row.
    private let firstX: Int
    private let firstY: Int

    /// A lattice with a first pixel and a distance of at least 1.
    public init(first: (x: Int, y: Int), step: Int) {
        precondition(step >= 1, "the distance of samples is at least 1")
        self.step = step
        firstX = first.x
        firstY = first.y
    }

    /// Converts a part of the full-size image to samples of the reduced one.
    func region(_ region: SampleRegion) -> SampleRegion {
        let step = Double(step)
        // The centre of a pixel or sample is half of one after its start.
        return SampleRegion(
            x: (region.x - Double(firstX) - 0.5) / step + 0.5,
            y: (region.y - Double(firstY) - 0.5) / step + 0.5,
            width: region.width / step, height: region.height / step)
    }
}
