// SPDX-License-Identifier: Apache-2.0

/// Returns sin(πx) ÷ πx × sin(πx/3) ÷ (πx/3) for 0 ≤ x < 3, to within 1e-14; exactly 0 at 1 and 2.
///
/// Written out because the resampler imports no mathematics library.
func windowedSinc(_ x: Double) -> Double {
    guard x > 1e-8 else { return 1 }
    guard x != 1, x != 2 else { return 0 }
    // sin(π − a) = sin(a), so a never exceeds ½π.
    let a = (x > 1.5 ? 1 - x / 3 : x / 3) * .pi
    let square = a * a
    // The Taylor series, from its last term.
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
    let sine = (1 - square * sum) * a
    // sin(3a) = 3 sin(a) − 4 sin³(a), so one sine is enough.
    let squaredSine = sine * sine
    return squaredSine * (3 - 4 * squaredSine) * 3 / (x * x * (.pi * .pi))
}
