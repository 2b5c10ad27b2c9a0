// SPDX-License-Identifier: Apache-2.0

/// A position in pixels; the origin is the top left corner and y grows downwards.
public struct Point: Hashable, Sendable {
    /// The distance from the left edge.
    public var x: Double
    /// The distance from the top edge.
    public var y: Double

    /// Creates a position from its coordinates in pixels.
    public init(_ x: Double, _ y: Double) {
        self.x = x
        self.y = y
    }
}
