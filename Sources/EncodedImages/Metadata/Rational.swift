// SPDX-License-Identifier: Apache-2.0

/// A fraction as a file states it, such as the exposure time 1/250.
public struct Rational: Hashable, Sendable {
    public var numerator: Int
    public var denominator: Int

    public init(_ numerator: Int, _ denominator: Int) {
        self.numerator = numerator
        self.denominator = denominator
    }

    /// The fraction as a number; `nil` if the denominator is 0.
    public var value: Double? {
        denominator == 0 ? nil : Double(numerator) / Double(denominator)
    }

    /// The same fraction with the smallest numbers.
    public var reduced: Rational {
        var (a, b) = (numerator.magnitude, denominator.magnitude)
        while b != 0 { (a, b) = (b, a % b) }
        guard let divisor = Int(exactly: a), divisor > 1 else { return self }
        return Rational(numerator / divisor, denominator / divisor)
    }
}

extension Rational: CustomStringConvertible {
    public var description: String { "\(numerator)/\(denominator)" }
}
