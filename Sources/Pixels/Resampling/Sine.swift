// SPDX-License-Identifier: Apache-2.0

/// sin(πx) ÷ πx for |x| ≤ 3, to within 1e-15.
///
/// Written out because this module imports nothing, not even the C library's mathematics; it runs
/// once a tap when weights are made, never in a pixel loop.
func sinc(_ x: Double) -> Double {
    guard x != 0 else { return 1 }
    // sin(πx) has period 2 and is odd around every whole number: fold x into [-½, ½].
    let nearest = x.rounded()
    let folded = (x - nearest) * .pi
    let square = folded * folded
    var term = folded
    var sum = folded
    for n in 1...10 {
        term *= -square / Double(2 * n * (2 * n + 1))
        sum += term
    }
    let isOdd = nearest.truncatingRemainder(dividingBy: 2) != 0
    return (isOdd ? -sum : sum) / (x * .pi)
}
