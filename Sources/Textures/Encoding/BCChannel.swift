// SPDX-License-Identifier: Apache-2.0

/// Encodes a block of one channel.
enum BCChannel {
    static func encoded(_ samples: InlineArray<16, UInt8>) -> UInt64 {
        var (low, high) = (255, 0)
        // The extremes without 0 and 255, which the second mode has as values of their own.
        var (innerLow, innerHigh) = (255, 0)
        for place in 0..<16 {
            let sample = Int(samples[place])
            low = min(low, sample)
            high = max(high, sample)
            if sample > 0 && sample < 255 {
                innerLow = min(innerLow, sample)
                innerHigh = max(innerHigh, sample)
            }
        }
        if low == high { return UInt64(low) | UInt64(low) << 8 }
        var best = Int.max
        var result: UInt64 = 0
        func consider(_ first: Int, _ second: Int) {
            var word = UInt64(first) | UInt64(second) << 8
            let values = BCBlocks.channelValues(first, second, 0...255)
            var sum = 0
            for place in 0..<16 {
                var (least, index) = (Int.max, 0)
                for number in 0..<8 {
                    let difference = values[number] - Int(samples[place])
                    if difference * difference < least {
                        (least, index) = (difference * difference, number)
                    }
                }
                sum += least
                if sum >= best { return }
                word |= UInt64(index) << UInt64(16 + place * 3)
            }
            (best, result) = (sum, word)
        }
        // The best end points lie within the extremes, by less than half the distance of two values.
        let reach = max(1, (high - low) / 14 + 1)
        let step = max(1, reach / 4)
        for a in stride(from: high, through: max(low + 1, high - reach), by: -step) {
            for b in stride(from: low, through: min(a - 1, low + reach), by: step) {
                consider(a, b)
            }
        }
        if low == 0 || high == 255, innerLow <= innerHigh {
            for a in innerLow...min(innerHigh, innerLow + 3) {
                for b in max(a, innerHigh - 3)...innerHigh { consider(a, b) }
            }
        }
        if low == 0 && high == 255 && innerLow > innerHigh { consider(0, 255) }
        return result
    }
}
