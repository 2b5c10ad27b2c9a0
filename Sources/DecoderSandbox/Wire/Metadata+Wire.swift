// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

extension EXIFFields.ExposureProgram: WireValue {}
extension EXIFFields.MeteringMode: WireValue {}
extension EXIFFields.WhiteBalance: WireValue {}
extension EXIFFields.ColorSpace: WireValue {}
extension MetadataPolicy.Kept: WireValue {}

extension WireReader {
    /// Reads a text of at most the length that parsed metadata allows.
    fileprivate mutating func text() throws(WireError) -> String? {
        guard let text = try optional(String.self) else { return nil }
        guard text.utf8.count <= 3 * MetadataFields.maximumTextByteCount else {
            throw WireError(reason: "a metadata text has \(text.utf8.count) bytes")
        }
        return text
    }

    /// Reads a list of at most the length that parsed metadata allows.
    fileprivate mutating func texts() throws(WireError) -> [String] {
        let list = try array(String.self)
        guard list.count <= MetadataFields.maximumListCount else {
            throw WireError(reason: "a metadata list has \(list.count) entries")
        }
        return list
    }

    /// Reads an integer in `range`.
    fileprivate mutating func number(in range: ClosedRange<Int>) throws(WireError) -> Int {
        let number = try number()
        guard range.contains(number) else {
            throw WireError(reason: "\(number) is not in \(range)")
        }
        return number
    }

    fileprivate mutating func number(
        orNil range: ClosedRange<Int>
    ) throws(WireError) -> Int? {
        try Bool(from: &self) ? try number(in: range) : nil
    }

    /// Reads a finite number.
    fileprivate mutating func finite() throws(WireError) -> Double {
        let number = try value(Double.self)
        guard number.isFinite else { throw WireError(reason: "a number is not finite") }
        return number
    }
}

extension WireWriter {
    fileprivate mutating func write<Fields>(
        _ paths: [WritableKeyPath<Fields, String?>], of fields: Fields
    ) {
        for path in paths { write(fields[keyPath: path]) }
    }
}

extension Rational: WireValue {
    func write(to writer: inout WireWriter) {
        writer.write(numerator)
        writer.write(denominator)
    }

    /// Reads a numerator and a denominator of 32 bits, as in EXIF.
    init(from reader: inout WireReader) throws(WireError) {
        let range = Int(Int32.min)...Int(UInt32.max)
        self.init(try reader.number(in: range), try reader.number(in: range))
        guard denominator != 0 else { throw WireError(reason: "a denominator is 0") }
    }
}

extension PhotoDate: WireValue {
    func write(to writer: inout WireWriter) {
        for number in [year, month, day, hour, minute, second] { writer.write(number) }
        writer.write(nanoseconds)
        writer.write(utcOffset)
    }

    init(from reader: inout WireReader) throws(WireError) {
        self.init(
            year: try reader.number(in: 1...9999), month: try reader.number(in: 1...12),
            day: try reader.number(in: 1...31))
        hour = try reader.number(in: 0...23)
        minute = try reader.number(in: 0...59)
        second = try reader.number(in: 0...60)
        nanoseconds = try reader.number(orNil: 0...999_999_999)
        utcOffset = try reader.number(orNil: -959...959)
    }
}

extension PhotoLocation: WireValue {
    func write(to writer: inout WireWriter) {
        writer.write(latitude)
        writer.write(longitude)
        writer.write(altitude)
        writer.write(direction)
        writer.write(isDirectionMagnetic)
        writer.write(time)
    }

    init(from reader: inout WireReader) throws(WireError) {
        self.init(latitude: try reader.finite(), longitude: try reader.finite())
        guard abs(latitude) <= 90, abs(longitude) <= 180 else {
            throw WireError(reason: "latitude or longitude out of range")
        }
        altitude = try reader.value(Bool.self) ? try reader.finite() : nil
        direction = try reader.value(Bool.self) ? try reader.finite() : nil
        isDirectionMagnetic = try reader.value()
        time = try reader.optional()
    }
}

extension EXIFFields: WireValue {
    private static var rationals: [WritableKeyPath<EXIFFields, Rational?>] {
        [\.exposureTime, \.fNumber, \.exposureBias, \.focalLength]
    }

    private static var dates: [WritableKeyPath<EXIFFields, PhotoDate?>] {
        [\.taken, \.digitized, \.modified]
    }

    func write(to writer: inout WireWriter) {
        writer.write(Self.texts, of: self)
        for path in Self.rationals { writer.write(self[keyPath: path]) }
        for path in Self.dates { writer.write(self[keyPath: path]) }
        for number in [rating, iso, focalLengthIn35mm, flash?.rawValue] { writer.write(number) }
        writer.write(exposureProgram)
        writer.write(meteringMode)
        writer.write(whiteBalance)
        writer.write(colorSpace)
        writer.write(orientation)
        writer.write(pixelSize)
        writer.write(location)
    }

    init(from reader: inout WireReader) throws(WireError) {
        self.init()
        for path in Self.texts { self[keyPath: path] = try reader.text() }
        for path in Self.rationals { self[keyPath: path] = try reader.optional() }
        for path in Self.dates { self[keyPath: path] = try reader.optional() }
        let numbers = Int(Int32.min)...Int(UInt32.max)
        rating = try reader.number(orNil: 0...5)
        iso = try reader.number(orNil: numbers)
        focalLengthIn35mm = try reader.number(orNil: numbers)
        flash = try reader.number(orNil: numbers).map(Flash.init(rawValue:))
        exposureProgram = try reader.optional()
        meteringMode = try reader.optional()
        whiteBalance = try reader.optional()
        colorSpace = try reader.optional()
        orientation = try reader.optional()
        pixelSize =
            try reader.value(Bool.self) ? try PixelSize(imageFrom: &reader) : nil
        location = try reader.optional()
    }
}

extension ImageRegion.Kind: WireValue {}

extension ImageRegion: WireValue {
    func write(to writer: inout WireWriter) {
        writer.write(kind)
        for value in [area.x, area.y, area.width, area.height] { writer.write(value) }
    }

    init(from reader: inout WireReader) throws(WireError) {
        self.init(
            try reader.value(),
            SampleRegion(
                x: try reader.finite(), y: try reader.finite(), width: try reader.finite(),
                height: try reader.finite()))
        guard isValid else { throw WireError(reason: "a region is not inside of the image") }
    }
}

extension XMPFields: WireValue {
    func write(to writer: inout WireWriter) {
        writer.write(Self.texts, of: self)
        for path in Self.lists { writer.write(self[keyPath: path]) }
        writer.write(rating)
        writer.write(regions)
        writer.write(sizeOfRegions)
    }

    init(from reader: inout WireReader) throws(WireError) {
        self.init()
        for path in Self.texts { self[keyPath: path] = try reader.text() }
        for path in Self.lists { self[keyPath: path] = try reader.texts() }
        rating = try reader.number(orNil: -1...5)
        regions = try reader.array(ImageRegion.self)
        guard regions.count <= XMPFields.maximumRegionCount else {
            throw WireError(reason: "\(regions.count) regions of an image")
        }
        sizeOfRegions = try reader.value(Bool.self) ? try PixelSize(imageFrom: &reader) : nil
    }
}

extension IPTCFields: WireValue {
    func write(to writer: inout WireWriter) {
        writer.write(Self.texts, of: self)
        for path in Self.lists { writer.write(self[keyPath: path]) }
        writer.write(dateCreated)
    }

    init(from reader: inout WireReader) throws(WireError) {
        self.init()
        for path in Self.texts { self[keyPath: path] = try reader.text() }
        for path in Self.lists { self[keyPath: path] = try reader.texts() }
        dateCreated = try reader.optional()
    }
}

extension MetadataFields.Block: WireValue where Fields: WireValue {
    func write(to writer: inout WireWriter) {
        writer.write(fields)
        writer.write(byteCount)
    }

    init(from reader: inout WireReader) throws(WireError) {
        self.init(try reader.value(), byteCount: try reader.number(in: 0...(1 << 40)))
    }
}

extension MetadataFields: WireValue {
    /// The maximum size of parsed metadata on the wire, in bytes.
    static let maximumByteCount = 1 << 20

    func write(to writer: inout WireWriter) {
        writer.write(exif)
        writer.write(xmp)
        writer.write(iptc)
    }

    init(from reader: inout WireReader) throws(WireError) {
        self.init()
        exif = try reader.optional()
        xmp = try reader.optional()
        iptc = try reader.optional()
    }
}

extension GainMapMetadata.Channel: WireValue {
    func write(to writer: inout WireWriter) {
        for value in [minimum, maximum, gamma, baseOffset, alternateOffset] { writer.write(value) }
    }

    init(from reader: inout WireReader) throws(WireError) {
        self.init()
        minimum = try reader.finite()
        maximum = try reader.finite()
        gamma = try reader.finite()
        baseOffset = try reader.finite()
        alternateOffset = try reader.finite()
    }
}

extension GainMapMetadata: WireValue {
    func write(to writer: inout WireWriter) {
        writer.write(channels)
        writer.write(baseHeadroom)
        writer.write(alternateHeadroom)
        writer.write(usesBaseColorSpace)
    }

    init(from reader: inout WireReader) throws(WireError) {
        self.init()
        let values = try reader.array(Channel.self)
        guard values.count == channels.count else {
            throw WireError(reason: "a gain map has \(values.count) channels")
        }
        channels = values
        baseHeadroom = try reader.finite()
        alternateHeadroom = try reader.finite()
        usesBaseColorSpace = try reader.value()
        guard isValid else { throw WireError(reason: "the metadata of a gain map is invalid") }
    }
}

extension MetadataPolicy: WireValue {
    func write(to writer: inout WireWriter) {
        writer.write(kept)
        writer.write(stripsLocation)
    }

    init(from reader: inout WireReader) throws(WireError) {
        self.init(try reader.value(), stripsLocation: try reader.value())
    }
}

extension ImageChanges: WireValue {
    func write(to writer: inout WireWriter) {
        writer.write(size)
        writer.write(isResized)
        writer.write(orientation)
        writer.write(isConvertedToSRGB)
    }

    init(from reader: inout WireReader) throws(WireError) {
        self.init(size: try PixelSize(from: &reader))
        isResized = try reader.value()
        orientation = try reader.value()
        isConvertedToSRGB = try reader.value()
    }
}
