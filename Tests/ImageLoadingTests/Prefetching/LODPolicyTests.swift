// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Pixels
import Testing

@testable import ImageLoading

@Suite("The choice of a level of detail") struct LODPolicyTests {
    /// 40 ms for the exact image, 20 for half and 10 for a quarter.
    private let policy = LODPolicy()

    @Test(
        "selects the sharpest level that arrives in time while content moves",
        arguments: [
            (100.0, 45, LOD.exact), (100, 40, .exact), (100, 39, .half), (100, 19, .quarter),
            (100, 10, .quarter), (-100, 45, .exact), (-100, 25, .half),
            // Not in time whatever is done: the one that comes first.
            (100, 5, .quarter), (100, -5, .quarter),
            // Too fast for more detail to be visible.
            (2001, 45, .half), (-2001, 45, .half), (6001, 45, .quarter), (-6001, 1000, .quarter),
        ])
    func moving(velocity: Double, milliseconds: Int, lod: LOD) {
        #expect(
            policy.lod(velocity: velocity, timeLeft: .milliseconds(milliseconds), shown: nil)
                == lod)
    }

    @Test("skips a level that saves little because of the speed, not because of the time")
    func worth() {
        var policy = policy
        for _ in 0..<200 {
            policy.times.note(.milliseconds(10), for: .exact)
            policy.times.note(.milliseconds(8), for: .half)
            policy.times.note(.milliseconds(6), for: .quarter)
        }
        for speed in [2500.0, 8000] {
            #expect(policy.lod(velocity: speed, timeLeft: .seconds(1), shown: nil) == .exact)
            #expect(
                policy.lod(velocity: speed, timeLeft: .milliseconds(9), shown: nil) == .half)
            #expect(policy.lod(velocity: speed, timeLeft: .zero, shown: nil) == .quarter)
        }
    }

    @Test("replaces a shown image by full detail only")
    func exchange() {
        for milliseconds in [0, 25, 39] {
            #expect(
                policy.lod(velocity: 100, timeLeft: .milliseconds(milliseconds), shown: .quarter)
                    == nil)
        }
        #expect(
            policy.lod(velocity: 100, timeLeft: .milliseconds(40), shown: .quarter) == .exact)
        #expect(policy.lod(velocity: 3000, timeLeft: .seconds(1), shown: .quarter) == nil)
    }

    @Test("takes the exact one at rest, whatever the time", arguments: [0, 50.0, -50])
    func resting(velocity: Double) {
        for shown in [nil, LOD.quarter, .half] {
            #expect(policy.lod(velocity: velocity, timeLeft: .zero, shown: shown) == .exact)
        }
        #expect(policy.lod(velocity: velocity, timeLeft: .zero, shown: .exact) == nil)
    }

    @Test("never requests a level that is not sharper than the shown one")
    func neverWorse() {
        for shown in LOD.allCases {
            for velocity in stride(from: -10_000.0, through: 10_000, by: 500) {
                for milliseconds in stride(from: 0, through: 100, by: 5) {
                    let lod = policy.lod(
                        velocity: velocity, timeLeft: .milliseconds(milliseconds), shown: shown)
                    if let lod { #expect(lod > shown) }
                }
            }
            for new in LOD.allCases {
                #expect(policy.swaps(new, for: shown) == (new.rawValue < shown.rawValue))
            }
            #expect(policy.swaps(shown, for: nil))
        }
    }

    @Test("estimates load times from measurements, and unmeasured levels from one measured")
    func learning() {
        var times = LoadTimes()
        #expect(times[.exact] == .milliseconds(40) && times[.quarter] == .milliseconds(10))
        times.note(.milliseconds(100), for: .half)
        // The first one may be off by half of itself.
        #expect(times[.half] == .milliseconds(150))
        #expect(times[.exact] == .milliseconds(300) && times[.quarter] == .milliseconds(75))
        for _ in 0..<100 { times.note(.milliseconds(100), for: .half) }
        #expect(times[.half] < .milliseconds(101) && times[.half] >= .milliseconds(100))
        times.note(.milliseconds(500), for: .exact)
        #expect(times[.exact] == .milliseconds(750))
        #expect(times[.quarter] < .milliseconds(51))
        let before = times[.half]
        times.note(.milliseconds(180), for: .half)
        // Mean and deviation take their shares of the surprise: 80/8 and 80/4.
        #expect(
            times[.half] > before + .milliseconds(29) && times[.half] < before + .milliseconds(31))
    }

    @Test("makes a request smaller and cheaper, and keeps full detail unchanged")
    func requests() {
        var request = ImageRequest(
            path: "a", options: DecodeOptions(box: PixelSize(width: 801, height: .max)))
        request.options.mode = .fill
        #expect(request.at(.exact).identity == request.identity)
        let half = request.at(.half).options
        #expect(half.box == PixelSize(width: 401, height: .max))
        #expect(half.quality == .fast && half.mode == .fill)
        #expect(request.at(.quarter).options.box == PixelSize(width: 201, height: .max))
    }
}
