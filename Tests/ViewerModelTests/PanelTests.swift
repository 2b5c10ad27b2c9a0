// SPDX-License-Identifier: Apache-2.0

import Pixels
import Testing
import ViewerModel

@Suite("The histogram") struct HistogramTests {
    private func image(_ color: (Int, Int) -> [UInt8]) -> PixelBuffer {
        var image = MutablePixelBuffer(size: PixelSize(width: 64, height: 4), format: .rgb8)
        for y in 0..<4 {
            image.withMutableRow(y) { row in
                for x in 0..<64 {
                    for (channel, value) in color(x, y).enumerated() {
                        row[x * 3 + channel] = value
                    }
                }
            }
        }
        return image.finish()
    }

    @Test("counts each value of each channel") func counts() {
        let histogram = Histogram(image { x, _ in [UInt8(x), 7, 255] })
        for value in 0..<256 {
            #expect(histogram.counts[0][value] == (value < 64 ? 4 : 0))
            #expect(histogram.counts[1][value] == (value == 7 ? 256 : 0))
            #expect(histogram.counts[2][value] == (value == 255 ? 256 : 0))
        }
    }

    @Test("draws the most frequent value at full height, and others by the square root")
    func drawing() {
        // A quarter of the pixels has the red value 10, the others 20.
        let drawn = Histogram(image { _, y in [y == 0 ? 10 : 20, 0, 0] }).image(height: 100)
        #expect(drawn.size == PixelSize(width: 256, height: 100))
        func height(_ value: Int, _ channel: Int) -> Int {
            (0..<100).count { drawn.row($0)[value * 3 + channel] == 208 }
        }
        #expect(height(0, 1) == 100)
        #expect(height(20, 0) == 87)
        #expect(height(10, 0) == 50)
        #expect(height(30, 0) == 0)
    }
}

@Suite("The frames of an animation") struct FramePlaybackTests {
    private let start = ContinuousClock.now

    @Test("are shown as long as the file specifies, whatever the delays before") func schedule() {
        var playback = FramePlayback()
        var now = start
        for (index, lateness) in [0, 3, 9, 1, 0].enumerated() {
            let due = playback.show(index, duration: .milliseconds(40), at: now)
            #expect(due == start + .milliseconds(40 * (index + 1)))
            now = due + .milliseconds(lateness)
        }
        #expect(playback.index == 4)
    }

    @Test("start a new schedule after a long delay, and after a pause") func delays() {
        var playback = FramePlayback()
        _ = playback.show(0, duration: .milliseconds(40), at: start)
        let late = start + .seconds(9)
        #expect(playback.show(1, duration: .milliseconds(40), at: late) == late + .milliseconds(40))
        playback.pause()
        let later = late + .milliseconds(60)
        #expect(
            playback.show(2, duration: .milliseconds(40), at: later) == later + .milliseconds(40))
    }

    @Test("without a duration are shown as in browsers") func noDuration() {
        for milliseconds in [0, 10] {
            var playback = FramePlayback()
            let due = playback.show(0, duration: .milliseconds(milliseconds), at: start)
            #expect(due == start + .milliseconds(100))
        }
    }

    @Test("are stepped backwards around the start") func previous() {
        var playback = FramePlayback()
        #expect(playback.previous(of: 5) == 4)
        _ = playback.show(3, duration: .zero, at: start)
        #expect(playback.previous(of: 5) == 2)
        #expect(FramePlayback().previous(of: 0) == 0)
    }
}

@Suite("The statistics of frames") struct FrameStatisticsTests {
    @Test("count the frames between two that are further apart than one refresh") func dropped() {
        var statistics = FrameStatistics()
        for tick in [0, 1, 2, 4, 5, 9] {
            statistics.add(
                at: 100 + Double(tick) / 60, cellCount: 36, blankCount: tick == 4 ? 3 : 0,
                coarseCount: tick == 5 ? 7 : 0)
        }
        #expect(statistics.frameCount == 6)
        #expect(statistics.droppedCount == 4)
        #expect(statistics.description == "frames 6 dropped 4 cells 216 blank 3 coarse 7")
    }
}
