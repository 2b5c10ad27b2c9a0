// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import Testing

@testable import PhotoLibrary

@Suite struct CaptureTimeTests {
    @Test(
        "file names with dates",
        arguments: [
            ("IMG_20230514_120311.jpg", "2023-05-14T12:03:11"),
            ("PXL_20230514_101112123.jpg", "2023-05-14T10:11:12"),
            ("2023-05-14 12.03.11.png", "2023-05-14T12:03:11"),
            ("Screenshot_2023-05-14-12-03-11-123_app.png", "2023-05-14T12:03:11"),
            ("Screenshot from 2023-05-14 12-03-11.png", "2023-05-14T12:03:11"),
            ("20230514120311.jpg", "2023-05-14T12:03:11"),
            ("signal-2023-05-14-120311.jpg", "2023-05-14T12:03:11"),
            ("1985-06-01 wedding.jpg", "1985-06-01T12:00:00"),
            ("IMG-20230514-WA0001.jpg", "2023-05-14T12:00:00"),
            ("scan 20230514.tif", "2023-05-14T12:00:00"),
        ])
    func name(name: String, expected: String) {
        let modified = CaptureTime(seconds: 0)
        #expect(CaptureTime(fileName: name, modified: modified)?.text == expected)
    }

    @Test(
        "file names without dates",
        arguments: [
            "IMG_1234.jpg", "DSC01234.ARW", "20231345_120311.jpg", "12345678.jpg",
            "2023-02-30.jpg", "18500101.jpg", "99999999999999999999999.jpg", "", "é.jpg",
            "1-2-3.png", "20230514250000.jpg",
        ])
    func noDate(name: String) {
        #expect(CaptureTime(fileName: name, modified: CaptureTime(seconds: 0)) == nil)
    }

    @Test("the time of day of the same day is that of the modification")
    func sameDay() throws {
        let modified = CaptureTime(
            CalendarDate(year: 2023, month: 5, day: 14), hour: 17, minute: 1, second: 2)
        let time = try #require(
            CaptureTime(fileName: "IMG-20230514-WA0001.jpg", modified: modified))
        #expect(time == modified)
    }

    @Test("a number of milliseconds is an instant")
    func milliseconds() throws {
        let time = try #require(
            CaptureTime(fileName: "FB_IMG_1684065791123.jpg", modified: CaptureTime(seconds: 0)))
        #expect(time == CaptureTime(nanosecondsSince1970: 1_684_065_791_123_000_000))
    }

    @Test("days before 1970 are floored")
    func floor() {
        #expect(CaptureTime(seconds: -1).day == -1)
        #expect(CaptureTime(seconds: -86_400).day == -1)
        #expect(CaptureTime(seconds: -86_401).text == "1969-12-30T23:59:59")
        #expect(ImageID(firstAt: CaptureTime(seconds: -1)).time.seconds == -1)
    }

    @Test("every day of 400 years has one number")
    func calendar() {
        var date = CalendarDate(daysSince1970: -100_000)
        for number in -99_999...46_097 {
            let next = CalendarDate(daysSince1970: number)
            #expect(next.daysSince1970 == number)
            let isNext =
                (next.year, next.month, next.day) == (date.year, date.month, date.day + 1)
                || (next.day == 1 && (next.month == date.month + 1 || next.month == 1))
            #expect(isNext, "\(date) and \(next)")
            date = next
        }
    }

    @Test("aspect ratios are exact to 1.1 %")
    func aspect() {
        for (width, height) in [(1, 1), (3, 2), (2, 3), (16, 9), (9, 21), (5, 1), (1, 5)] {
            let byte = AspectRatio.byte(width: width, height: height)
            let ratio = exp2((Double(byte) - 128) / 32) * Double(height) / Double(width)
            #expect(abs(ratio - 1) < 0.011)
        }
        #expect(AspectRatio.byte(width: 0, height: 5) == AspectRatio.unknown)
        #expect(AspectRatio.byte(width: .max, height: 1) == 255)
        #expect(AspectRatio.byte(width: 1, height: .max) == 1)
    }
}
