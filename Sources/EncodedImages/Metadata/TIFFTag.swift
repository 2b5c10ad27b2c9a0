// SPDX-License-Identifier: Apache-2.0

/// The number that says what an entry of a directory contains, by the name in its specification.
///
/// - SeeAlso: TIFF 6.0; CIPA DC-008 (EXIF 2.32), section 4.6; Adobe, *Digital Negative (DNG)
///   Specification*; XMP Specification Part 3.
package struct TIFFTag: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    private init(_ rawValue: Int) { self.rawValue = rawValue }
}

/// Baseline TIFF and its extensions.
extension TIFFTag {
    package static let newSubfileType = TIFFTag(0x00FE)
    package static let subfileType = TIFFTag(0x00FF)
    package static let imageWidth = TIFFTag(0x0100)
    package static let imageLength = TIFFTag(0x0101)
    package static let bitsPerSample = TIFFTag(0x0102)
    package static let compression = TIFFTag(0x0103)
    package static let photometricInterpretation = TIFFTag(0x0106)
    package static let imageDescription = TIFFTag(0x010E)
    package static let make = TIFFTag(0x010F)
    package static let model = TIFFTag(0x0110)
    package static let stripOffsets = TIFFTag(0x0111)
    package static let orientation = TIFFTag(0x0112)
    package static let samplesPerPixel = TIFFTag(0x0115)
    package static let rowsPerStrip = TIFFTag(0x0116)
    package static let stripByteCounts = TIFFTag(0x0117)
    package static let xResolution = TIFFTag(0x011A)
    package static let yResolution = TIFFTag(0x011B)
    package static let planarConfiguration = TIFFTag(0x011C)
    package static let resolutionUnit = TIFFTag(0x0128)
    package static let software = TIFFTag(0x0131)
    package static let dateTime = TIFFTag(0x0132)
    package static let artist = TIFFTag(0x013B)
    package static let hostComputer = TIFFTag(0x013C)
    package static let predictor = TIFFTag(0x013D)
    package static let colorMap = TIFFTag(0x0140)
    package static let tileWidth = TIFFTag(0x0142)
    package static let tileLength = TIFFTag(0x0143)
    package static let tileOffsets = TIFFTag(0x0144)
    package static let tileByteCounts = TIFFTag(0x0145)
    package static let subIFDs = TIFFTag(0x014A)
    package static let inkSet = TIFFTag(0x014C)
    package static let extraSamples = TIFFTag(0x0152)
    package static let sampleFormat = TIFFTag(0x0153)
    package static let jpegInterchangeFormat = TIFFTag(0x0201)
    package static let jpegInterchangeFormatLength = TIFFTag(0x0202)
    package static let jpegTables = TIFFTag(0x015B)
    package static let xmp = TIFFTag(0x02BC)
    package static let rating = TIFFTag(0x4746)
    package static let ratingPercent = TIFFTag(0x4749)
    package static let copyright = TIFFTag(0x8298)
    package static let iptc = TIFFTag(0x83BB)
    package static let photoshop = TIFFTag(0x8649)
    package static let exifIFD = TIFFTag(0x8769)
    package static let iccProfile = TIFFTag(0x8773)
    package static let gpsIFD = TIFFTag(0x8825)
    package static let xpTitle = TIFFTag(0x9C9B)
    package static let xpComment = TIFFTag(0x9C9C)
    package static let xpAuthor = TIFFTag(0x9C9D)
    package static let xpKeywords = TIFFTag(0x9C9E)
    package static let xpSubject = TIFFTag(0x9C9F)
}

/// The directory `exifIFD`.
extension TIFFTag {
    package static let exposureTime = TIFFTag(0x829A)
    package static let fNumber = TIFFTag(0x829D)
    package static let exposureProgram = TIFFTag(0x8822)
    package static let photographicSensitivity = TIFFTag(0x8827)
    package static let recommendedExposureIndex = TIFFTag(0x8832)
    package static let isoSpeed = TIFFTag(0x8833)
    package static let dateTimeOriginal = TIFFTag(0x9003)
    package static let dateTimeDigitized = TIFFTag(0x9004)
    package static let offsetTime = TIFFTag(0x9010)
    package static let offsetTimeOriginal = TIFFTag(0x9011)
    package static let offsetTimeDigitized = TIFFTag(0x9012)
    package static let exposureBiasValue = TIFFTag(0x9204)
    package static let meteringMode = TIFFTag(0x9207)
    package static let flash = TIFFTag(0x9209)
    package static let focalLength = TIFFTag(0x920A)
    package static let makerNote = TIFFTag(0x927C)
    package static let userComment = TIFFTag(0x9286)
    package static let subSecTime = TIFFTag(0x9290)
    package static let subSecTimeOriginal = TIFFTag(0x9291)
    package static let subSecTimeDigitized = TIFFTag(0x9292)
    package static let colorSpace = TIFFTag(0xA001)
    package static let pixelXDimension = TIFFTag(0xA002)
    package static let pixelYDimension = TIFFTag(0xA003)
    package static let interoperabilityIFD = TIFFTag(0xA005)
    package static let whiteBalance = TIFFTag(0xA403)
    package static let focalLengthIn35mmFilm = TIFFTag(0xA405)
    package static let bodySerialNumber = TIFFTag(0xA431)
    package static let lensMake = TIFFTag(0xA433)
    package static let lensModel = TIFFTag(0xA434)
    package static let lensSerialNumber = TIFFTag(0xA435)
}

/// The directory `interoperabilityIFD`.
extension TIFFTag {
    package static let interoperabilityIndex = TIFFTag(0x0001)
}

/// The directory `gpsIFD`.
extension TIFFTag {
    package static let gpsLatitudeRef = TIFFTag(0x0001)
    package static let gpsLatitude = TIFFTag(0x0002)
    package static let gpsLongitudeRef = TIFFTag(0x0003)
    package static let gpsLongitude = TIFFTag(0x0004)
    package static let gpsAltitudeRef = TIFFTag(0x0005)
    package static let gpsAltitude = TIFFTag(0x0006)
    package static let gpsTimeStamp = TIFFTag(0x0007)
    package static let gpsImgDirectionRef = TIFFTag(0x0010)
    package static let gpsImgDirection = TIFFTag(0x0011)
    package static let gpsDateStamp = TIFFTag(0x001D)
}

/// Files of camera sensors.
extension TIFFTag {
    package static let dngVersion = TIFFTag(0xC612)
    /// Panasonic's own: a whole JPEG file.
    package static let jpgFromRaw = TIFFTag(0x002E)
}

/// The maker note of Apple's cameras.
extension TIFFTag {
    static let appleHDRHeadroom = TIFFTag(0x0021)
    static let appleHDRGain = TIFFTag(0x0030)
}
