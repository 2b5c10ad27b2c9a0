// SPDX-License-Identifier: Apache-2.0

/// A fraction that a file contains, such as the exposure time 1/250.
public struct Rational: Hashable, Sendable {
    /// The numerator.
    public var numerator: Int
    /// The denominator; may be 0.
    public var denominator: Int

    /// A fraction, which is not reduced.
    public init(_ numerator: Int, _ denominator: Int) {
        self.numerator = numerator
        self.denominator = denominator
    }

    /// The value of the fraction; `nil` if the denominator is 0.
    public var value: Double? {
        denominator == 0 ? nil : Double(numerator) / Double(denominator)
    }

    /// The fraction in lowest terms.
    public var reduced: Rational {
        var (a, b) = (numerator.magnitude, denominator.magnitude)
        while b != 0 { (a, b) = (b, a % b) }
        guard let divisor = Int(exactly: a), divisor > 1 else { return self }
        return Rational(numerator / divisor, denominator / divisor)
    }
}

extension Rational: CustomStringConvertible {
    /// The fraction, such as `1/250`.
    public var description: String { "\(numerator)/\(denominator)" }
}
