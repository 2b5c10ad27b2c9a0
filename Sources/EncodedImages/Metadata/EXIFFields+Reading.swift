// SPDX-License-Identifier: Apache-2.0

internal import Pixels

extension EXIFFields {
    /// Reads a block that begins with the byte order mark `II` or `MM`.
    ///
    /// A text is cut at 65,536 bytes, all texts together at 131,072.
    public init(_ block: Span<UInt8>) {
        self.init()
        guard let layout = TIFFLayout(block),
            let image = layout.directory(block, at: layout.firstDirectory(block))
        else { return }
        readImage(image, block)
        let exposure = image.directory(.exifIFD, block)
        if let exposure { readExposure(exposure, block) }
        readDates(image, exposure, block)
        location = image.directory(.gpsIFD, block).flatMap { PhotoLocation($0, block) }
        fitTexts()
    }

    private mutating func fitTexts() {
        var budget = MetadataTextBudget()
        for field in [
            \Self.imageDescription, \.cameraMake, \.cameraModel, \.software, \.artist,
            \.copyright, \.userComment, \.cameraSerialNumber, \.lensMake, \.lensModel,
            \.lensSerialNumber,
        ] { budget.fit(&self[keyPath: field]) }
    }

    private mutating func readImage(_ directory: TIFFDirectory, _ block: Span<UInt8>) {
        imageDescription = directory.text(.imageDescription, block)
        cameraMake = directory.text(.make, block)
        cameraModel = directory.text(.model, block)
        orientation = directory.integer(.orientation, block)
            .flatMap(UInt8.init(exactly:)).flatMap(Orientation.init(rawValue:))
        software = directory.text(.software, block)
        artist = directory.text(.artist, block)
        copyright = directory.copyright(block)
        rating = directory.integer(.rating, block).flatMap { (0...5).contains($0) ? $0 : nil }
    }

    private mutating func readExposure(_ directory: TIFFDirectory, _ block: Span<UInt8>) {
        func integer(_ tag: TIFFTag) -> Int? { directory.integer(tag, block) }
        exposureTime = directory.rational(.exposureTime, block)
        fNumber = directory.rational(.fNumber, block)
        exposureProgram = integer(.exposureProgram).flatMap(ExposureProgram.init(rawValue:))
        iso = integer(.photographicSensitivity)
        // 65535 means that the value does not fit; another entry then contains it.
        if iso == nil || iso == 65_535 {
            iso = integer(.recommendedExposureIndex) ?? integer(.isoSpeed) ?? iso
        }
        if iso == 0 { iso = nil }
        exposureBias = directory.rational(.exposureBiasValue, block)
        meteringMode = integer(.meteringMode).flatMap(MeteringMode.init(rawValue:))
        flash = integer(.flash).map(Flash.init(rawValue:))
        focalLength = directory.rational(.focalLength, block)
            .flatMap { $0.numerator == 0 ? nil : $0 }
        userComment = directory.userComment(block)
        whiteBalance = integer(.whiteBalance).flatMap(WhiteBalance.init(rawValue:))
        focalLengthIn35mm = integer(.focalLengthIn35mmFilm).flatMap { $0 == 0 ? nil : $0 }
        cameraSerialNumber = directory.text(.bodySerialNumber, block)
        lensMake = directory.text(.lensMake, block)
        lensModel = directory.text(.lensModel, block)
        lensSerialNumber = directory.text(.lensSerialNumber, block)
        if let width = integer(.pixelXDimension), let height = integer(.pixelYDimension),
            // A size whose area does not overflow.
            (1...0x7FFF_FFFF).contains(width), (1...0x7FFF_FFFF).contains(height)
        {
            pixelSize = PixelSize(width: width, height: height)
        }
        switch integer(.colorSpace) {
        case 1: colorSpace = .sRGB
        case 2: colorSpace = .adobeRGB
        case 0xFFFF:
            let rule = directory.directory(.interoperabilityIFD, block)?
                .text(.interoperabilityIndex, block)
            colorSpace = rule == "R03" ? .adobeRGB : .uncalibrated
        default: break
        }
    }

    private mutating func readDates(
        _ image: TIFFDirectory, _ exposure: TIFFDirectory?, _ block: Span<UInt8>
    ) {
        func date(
            _ directory: TIFFDirectory?, _ tag: TIFFTag, fraction: TIFFTag, offset: TIFFTag
        ) -> PhotoDate? {
            directory?.text(tag, block).flatMap {
                PhotoDate(
                    exif: $0, fraction: exposure?.text(fraction, block),
                    offset: exposure?.text(offset, block))
            }
        }
        modified = date(image, .dateTime, fraction: .subSecTime, offset: .offsetTime)
        taken = date(
            exposure, .dateTimeOriginal, fraction: .subSecTimeOriginal, offset: .offsetTimeOriginal)
        digitized = date(
            exposure, .dateTimeDigitized, fraction: .subSecTimeDigitized,
            offset: .offsetTimeDigitized)
    }
}

extension TIFFDirectory {
    /// The copyright of the photographer and of the editor, which a zero separates.
    fileprivate func copyright(_ block: Span<UInt8>) -> String? {
        guard let entry = entry(.copyright) else { return nil }
        let bytes = bytes(entry, block, first: MetadataText.maximumByteCount + 1)
        let parts = bytes.split(separator: 0, maxSplits: 2).prefix(2)
            .compactMap { MetadataText.decoded($0) }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    /// The text after the name of its encoding, which has 8 bytes.
    fileprivate func userComment(_ block: Span<UInt8>) -> String? {
        guard let entry = entry(.userComment) else { return nil }
        let bytes = bytes(entry, block, first: MetadataText.maximumByteCount)
        guard bytes.count > 8 else { return nil }
        guard bytes.starts(with: Array("UNICODE\0".utf8)) else {
            return MetadataText.decoded(bytes[8...].prefix { $0 != 0 })
        }
        var units: [UInt16] = []
        for offset in stride(from: 8, to: bytes.count - 1, by: 2) {
            let unit = UInt16(layout.integer(bytes.span, at: offset, 2) ?? 0)
            if unit == 0 { break }
            units.append(unit < 0x20 ? UInt16(MetadataText.printable(UInt8(unit))) : unit)
        }
        return MetadataText.trimmed(MetadataText.cut(String(decoding: units, as: UTF16.self)))
    }
}

extension PhotoLocation {
    /// Reads a GPS directory; `nil` without a valid latitude and longitude.
    fileprivate init?(_ directory: TIFFDirectory, _ block: Span<UInt8>) {
        guard
            let latitude = Self.angle(
                directory, .gpsLatitudeRef, .gpsLatitude, negative: "S", block),
            let longitude = Self.angle(
                directory, .gpsLongitudeRef, .gpsLongitude, negative: "W", block),
            abs(latitude) <= 90, abs(longitude) <= 180
        else { return nil }
        self.init(latitude: latitude, longitude: longitude)
        if let height = directory.rational(.gpsAltitude, block)?.value {
            altitude = directory.integer(.gpsAltitudeRef, block) == 1 ? -height : height
        }
        direction = directory.rational(.gpsImgDirection, block)?.value
        isDirectionMagnetic = directory.text(.gpsImgDirectionRef, block) == "M"
        if let date = directory.text(.gpsDateStamp, block), var time = PhotoDate(exif: date) {
            let parts = (0..<3).map { directory.rational(.gpsTimeStamp, block, $0)?.value ?? -1 }
            if parts.allSatisfy({ (0..<61).contains($0) }), parts[0] < 24, parts[1] < 60 {
                time.hour = Int(parts[0])
                time.minute = Int(parts[1])
                time.second = Int(parts[2])
                time.utcOffset = 0
                self.time = time
            }
        }
    }

    /// An angle in degrees, from degrees, minutes and seconds, and the hemisphere.
    private static func angle(
        _ directory: TIFFDirectory, _ reference: TIFFTag, _ tag: TIFFTag, negative: String,
        _ block: Span<UInt8>
    ) -> Double? {
        guard let degrees = directory.rational(tag, block)?.value else { return nil }
        let minutes = directory.rational(tag, block, 1)?.value ?? 0
        let seconds = directory.rational(tag, block, 2)?.value ?? 0
        let angle = degrees + minutes / 60 + seconds / 3600
        return directory.text(reference, block) == negative ? -angle : angle
    }
}
