// SPDX-License-Identifier: Apache-2.0

/// sin(πx) ÷ πx for |x| ≤ 3, to within 1e-15.
///
/// Written out because this module imports nothing, not even the C library's mathematics.
func sinc(_ x: Double) -> Double {
    guard x != 0 else { return 1 }
    // sin(πx) has period 2 and is odd around every whole number: fold x into [-½, ½].
    let nearest = Double(Int(x + (x < 0 ? -0.5 : 0.5)))
    let folded = (x - nearest) * .pi
    let square = folded * folded
    // Taylor's series, from its last term.
    var sum = 1 / 51_090_942_171_709_440_000.0
    sum = 1 / 121_645_100_408_832_000.0 - square * sum
    sum = 1 / 355_687_428_096_000.0 - square * sum
    sum = 1 / 1_307_674_368_000.0 - square * sum
    sum = 1 / 6_227_020_800.0 - square * sum
    sum = 1 / 39_916_800.0 - square * sum
    sum = 1 / 362_880.0 - square * sum
    sum = 1 / 5_040.0 - square * sum
    sum = 1 / 120.0 - square * sum
    sum = 1 / 6.0 - square * sum
    sum = (1 - square * sum) * folded
    return (Int(nearest) & 1 == 1 ? -sum : sum) / (x * .pi)
}
