// SPDX-License-Identifier: Apache-2.0

internal import Pixels

extension EXIFFields {
    /// Reads a block that begins with the byte order mark `II` or `MM`.
    ///
    /// A text is cut at 65,536 bytes, the texts together at 131,072.
    public init(_ block: Span<UInt8>) {
        self.init()
        guard let order = TIFFByteOrder(block),
            let first = order.directory(block, at: order.firstDirectory(block))
        else { return }
        let picture = Values(order: order, directory: first)
        readPicture(picture, block)
        let exposure = picture.directory(0x8769, block)
        if let exposure { readExposure(exposure, block) }
        readDates(picture, exposure, block)
        location = picture.directory(0x8825, block).flatMap { PhotoLocation($0, block) }
        fit()
    }

    private mutating func fit() {
        var budget = MetadataTextBudget()
        for field in [
            \Self.imageDescription, \.cameraMake, \.cameraModel, \.software, \.artist,
            \.copyright, \.userComment, \.cameraSerialNumber, \.lensMake, \.lensModel,
            \.lensSerialNumber,
        ] { budget.fit(&self[keyPath: field]) }
    }

    private mutating func readPicture(_ values: Values, _ block: Span<UInt8>) {
        imageDescription = values.text(0x010E, block)
        cameraMake = values.text(0x010F, block)
        cameraModel = values.text(0x0110, block)
        orientation = values.integer(0x0112, block)
            .flatMap(UInt8.init(exactly:)).flatMap(Orientation.init(rawValue:))
        software = values.text(0x0131, block)
        artist = values.text(0x013B, block)
        copyright = values.copyright(block)
        rating = values.integer(0x4746, block).flatMap { (0...5).contains($0) ? $0 : nil }
    }

    private mutating func readExposure(_ values: Values, _ block: Span<UInt8>) {
        exposureTime = values.rational(0x829A, block)
        fNumber = values.rational(0x829D, block)
        exposureProgram = values.integer(0x8822, block).flatMap(ExposureProgram.init(rawValue:))
        iso = values.integer(0x8827, block)
        // 65535 says that the value does not fit; another entry then holds it.
        if iso == nil || iso == 65_535 {
            iso = values.integer(0x8832, block) ?? values.integer(0x8833, block) ?? iso
        }
        if iso == 0 { iso = nil }
        exposureBias = values.rational(0x9204, block)
        meteringMode = values.integer(0x9207, block).flatMap(MeteringMode.init(rawValue:))
        flash = values.integer(0x9209, block).map(Flash.init(rawValue:))
        focalLength = values.rational(0x920A, block).flatMap { $0.numerator == 0 ? nil : $0 }
        userComment = values.comment(0x9286, block)
        whiteBalance = values.integer(0xA403, block).flatMap(WhiteBalance.init(rawValue:))
        focalLengthIn35mm = values.integer(0xA405, block).flatMap { $0 == 0 ? nil : $0 }
        cameraSerialNumber = values.text(0xA431, block)
        lensMake = values.text(0xA433, block)
        lensModel = values.text(0xA434, block)
        lensSerialNumber = values.text(0xA435, block)
        if let width = values.integer(0xA002, block), let height = values.integer(0xA003, block),
            // A size whose area can be worked with.
            (1...0x7FFF_FFFF).contains(width), (1...0x7FFF_FFFF).contains(height)
        {
            pixelSize = PixelSize(width: width, height: height)
        }
        switch values.integer(0xA001, block) {
        case 1: colorSpace = .sRGB
        case 2: colorSpace = .adobeRGB
        case 0xFFFF:
            let rule = values.directory(0xA005, block)?.text(0x0001, block)
            colorSpace = rule == "R03" ? .adobeRGB : .uncalibrated
        default: break
        }
    }

    private mutating func readDates(
        _ picture: Values, _ exposure: Values?, _ block: Span<UInt8>
    ) {
        func date(_ values: Values?, _ tag: Int, fraction: Int, offset: Int) -> PhotoDate? {
            values?.text(tag, block).flatMap {
                PhotoDate(
                    exif: $0, fraction: exposure?.text(fraction, block),
                    offset: exposure?.text(offset, block))
            }
        }
        modified = date(picture, 0x0132, fraction: 0x9290, offset: 0x9010)
        taken = date(exposure, 0x9003, fraction: 0x9291, offset: 0x9011)
        digitized = date(exposure, 0x9004, fraction: 0x9292, offset: 0x9012)
    }

    /// A directory with the way to read it.
    fileprivate struct Values {
        let order: TIFFByteOrder
        let directory: TIFFByteOrder.Directory

        func integer(_ tag: Int, _ block: Span<UInt8>) -> Int? {
            directory.entry(tag).flatMap { order.integer(block, $0) }
        }

        /// A fraction with a denominator.
        func rational(_ tag: Int, _ block: Span<UInt8>, _ index: Int = 0) -> Rational? {
            directory.entry(tag).flatMap { order.rational(block, $0, index) }
                .flatMap { $0.denominator == 0 ? nil : $0 }
        }

        func text(_ tag: Int, _ block: Span<UInt8>) -> String? {
            directory.entry(tag).flatMap { order.text(block, $0) }
        }

        /// The photographer's and the editor's, with a zero between them.
        func copyright(_ block: Span<UInt8>) -> String? {
            guard let entry = directory.entry(0x8298) else { return nil }
            let bytes = order.bytes(block, entry, first: MetadataText.maximumByteCount + 1)
            let parts = bytes.split(separator: 0, maxSplits: 2).prefix(2)
                .compactMap { MetadataText.decoded($0) }
            return parts.isEmpty ? nil : parts.joined(separator: "; ")
        }

        /// Text behind the name of its encoding, which takes eight bytes.
        func comment(_ tag: Int, _ block: Span<UInt8>) -> String? {
            guard let entry = directory.entry(tag) else { return nil }
            let bytes = order.bytes(block, entry, first: MetadataText.maximumByteCount)
            guard bytes.count > 8 else { return nil }
            let text = bytes[8...]
            guard bytes.starts(with: Array("UNICODE\0".utf8)) else {
                return MetadataText.decoded(text.prefix { $0 != 0 })
            }
            var units: [UInt16] = []
            for index in stride(from: 8, to: bytes.count - 1, by: 2) {
                let pair = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
                let unit = order.isLittleEndian ? pair.1 << 8 | pair.0 : pair.0 << 8 | pair.1
                if unit == 0 { break }
                units.append(unit < 0x20 ? UInt16(MetadataText.printable(UInt8(unit))) : unit)
            }
            return MetadataText.trimmed(
                MetadataText.cut(String(decoding: units, as: UTF16.self)))
        }

        /// Another directory that an entry leads to; none of those leads back.
        func directory(_ tag: Int, _ block: Span<UInt8>) -> Values? {
            integer(tag, block).flatMap { order.directory(block, at: $0) }
                .map { Values(order: order, directory: $0) }
        }
    }
}

extension PhotoLocation {
    /// Reads the directory of positions; `nil` without latitude and longitude.
    fileprivate init?(_ values: EXIFFields.Values, _ block: Span<UInt8>) {
        guard let latitude = Self.angle(values, 0x0001, 0x0002, negative: "S", block),
            let longitude = Self.angle(values, 0x0003, 0x0004, negative: "W", block),
            abs(latitude) <= 90, abs(longitude) <= 180
        else { return nil }
        self.init(latitude: latitude, longitude: longitude)
        if let height = values.rational(0x0006, block)?.value {
            altitude = values.integer(0x0005, block) == 1 ? -height : height
        }
        direction = values.rational(0x0011, block)?.value
        isDirectionMagnetic = values.text(0x0010, block) == "M"
        if let date = values.text(0x001D, block), var time = PhotoDate(exif: date) {
            let parts = (0..<3).map { values.rational(0x0007, block, $0)?.value ?? -1 }
            if parts.allSatisfy({ (0..<61).contains($0) }), parts[0] < 24, parts[1] < 60 {
                time.hour = Int(parts[0])
                time.minute = Int(parts[1])
                time.second = Int(parts[2])
                time.utcOffset = 0
                self.time = time
            }
        }
    }

    /// Degrees, minutes and seconds, each a fraction, and which half of the globe they mean.
    private static func angle(
        _ values: EXIFFields.Values, _ reference: Int, _ tag: Int, negative: String,
        _ block: Span<UInt8>
    ) -> Double? {
        guard let degrees = values.rational(tag, block)?.value else { return nil }
        let minutes = values.rational(tag, block, 1)?.value ?? 0
        let seconds = values.rational(tag, block, 2)?.value ?? 0
        let angle = degrees + minutes / 60 + seconds / 3600
        return values.text(reference, block) == negative ? -angle : angle
    }
}
