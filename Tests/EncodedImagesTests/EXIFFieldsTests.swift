// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import ImageTesting
import Pixels
import Testing

@Suite("EXIF fields") struct EXIFFieldsTests {
    @Test("are read in both byte orders", arguments: [true, false])
    func all(isLittleEndian: Bool) throws {
        let fields = EXIFFields(EXIFBlock.photograph(isLittleEndian: isLittleEndian).span)
        #expect(fields.cameraMake == "Maker")
        #expect(fields.cameraModel == "Model 5")
        #expect(fields.cameraSerialNumber == "123456")
        #expect(fields.lensMake == "Lens maker")
        #expect(fields.lensModel == "35 mm f/2")
        #expect(fields.software == "Firmware 1.0")
        #expect(fields.artist == "Zoë")
        #expect(fields.copyright == "Zoë; Editor")
        #expect(fields.imageDescription == "A harbour in the morning")
        #expect(fields.userComment == "a comment")
        #expect(fields.rating == 4)
        #expect(fields.exposureTime == Rational(1, 250))
        #expect(fields.fNumber?.value == 2.8)
        #expect(fields.iso == 400)
        #expect(fields.exposureBias == Rational(-1, 3))
        #expect(fields.exposureProgram == .aperturePriority)
        #expect(fields.meteringMode == .pattern)
        #expect(fields.whiteBalance == .manual)
        #expect(fields.flash?.fired == true)
        #expect(fields.flash?.reducesRedEyes == true)
        #expect(fields.flash?.isMissing == false)
        #expect(fields.focalLength?.reduced == Rational(35, 1))
        #expect(fields.focalLengthIn35mm == 52)
        #expect(fields.taken?.description == "2024-02-29T23:59:59.25-03:30")
        #expect(fields.digitized?.description == "2024-02-29T23:59:59")
        #expect(fields.modified?.description == "2024-03-01T08:00:00")
        #expect(fields.orientation == .rotated90)
        #expect(fields.pixelSize == PixelSize(width: 4000, height: 3000))
        #expect(fields.colorSpace == .adobeRGB)
        let location = try #require(fields.location)
        #expect(abs(location.latitude + (33 + 52 / 60.0)) < 1e-12)
        #expect(abs(location.longitude + (151 + 12 / 60.0 + 36 / 3600.0)) < 1e-12)
        #expect(location.altitude == -10.5)
        #expect(location.direction == 270.5)
        #expect(location.isDirectionMagnetic)
        #expect(location.time?.description == "2024-03-01T03:29:59+00:00")
    }

    @Test("that are damaged are nil, and no others are", arguments: [true, false])
    func damage(isLittleEndian: Bool) {
        let block = EXIFBlock.photograph(isLittleEndian: isLittleEndian)
        for length in block.indices {
            _ = EXIFFields(block.span.extracting(first: length))
        }
        var random = SeededRandom(seed: 1)
        var changed = 0
        for _ in 0..<5_000 {
            var damaged = block
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: damaged.indices, using: &random)
                damaged[place] = UInt8.random(in: 0...255, using: &random)
            }
            if EXIFFields(damaged.span) != EXIFFields(block.span) { changed += 1 }
        }
        #expect(changed > 2_500)
    }

    @Test("of a directory that refers to itself, or states 65535 entries, are read")
    func loops() {
        let loop: [UInt8] =
            Array("II*\0".utf8) + [8, 0, 0, 0] + [2, 0]
            + [0x69, 0x87, 4, 0, 1, 0, 0, 0, 8, 0, 0, 0]
            + [0x25, 0x88, 4, 0, 1, 0, 0, 0, 8, 0, 0, 0] + [8, 0, 0, 0]
        #expect(EXIFFields(loop.span) == EXIFFields())
        let many = Array("MM\0*".utf8) + [0, 0, 0, 8, 0xFF, 0xFF] + loop
        #expect(EXIFFields(many.span) == EXIFFields())
    }

    @Test(
        "dates of unset clocks are nil",
        arguments: [
            "0000:00:00 00:00:00", "    :  :     :  :  ", "", "2024:13:01 00:00:00",
            "2024:02:29 25:00:00", "99999999999999999999999:1:1 1:1:1",
        ])
    func noDate(text: String) { #expect(PhotoDate(exif: text) == nil) }

    @Test("dates in common forms are parsed")
    func dates() {
        #expect(PhotoDate(exif: "2024-02-29T01:02:03")?.description == "2024-02-29T01:02:03")
        #expect(PhotoDate(exif: "2024:02:29")?.description == "2024-02-29T00:00:00")
        let full = PhotoDate(exif: "2024:02:29 01:02:03", fraction: "070", offset: "+05:45")
        #expect(full?.description == "2024-02-29T01:02:03.07+05:45")
    }
}
