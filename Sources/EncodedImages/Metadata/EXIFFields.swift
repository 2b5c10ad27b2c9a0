// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// The fields of an EXIF block that describe a photograph and how it was taken.
///
/// See ``EXIF`` for the two fields that decoding needs. Damage is never an error: fields that cannot be
/// read, or that the camera left blank, are `nil`.
/// - SeeAlso: CIPA DC-008 (EXIF 2.32), section 4.6.
public struct EXIFFields: Hashable, Sendable {
    // Camera and software.

    /// The manufacturer of the camera (`Make`).
    public var cameraMake: String?
    /// The model of the camera (`Model`).
    public var cameraModel: String?
    /// The serial number of the camera (`BodySerialNumber`).
    public var cameraSerialNumber: String?
    /// The manufacturer of the lens (`LensMake`).
    public var lensMake: String?
    /// The model of the lens (`LensModel`).
    public var lensModel: String?
    /// The serial number of the lens (`LensSerialNumber`).
    public var lensSerialNumber: String?
    /// The software that wrote the file (`Software`).
    public var software: String?

    // Author and contents.

    /// The photographer (`Artist`).
    public var artist: String?
    /// The copyright notices of the photographer and of the editor, joined by `; ` (`Copyright`).
    public var copyright: String?
    /// The title of the image (`ImageDescription`).
    public var imageDescription: String?
    /// The comment of the user (`UserComment`).
    public var userComment: String?
    /// The rating in stars from 0 to 5.
    public var rating: Int?

    // Exposure.

    /// The exposure time in seconds.
    public var exposureTime: Rational?
    /// The f-number of the aperture.
    public var fNumber: Rational?
    /// The sensitivity by ISO 12232.
    public var iso: Int?
    /// The exposure bias in EV.
    public var exposureBias: Rational?
    /// The program that chose exposure time and aperture.
    public var exposureProgram: ExposureProgram?
    /// The metering mode.
    public var meteringMode: MeteringMode?
    /// The white balance mode.
    public var whiteBalance: WhiteBalance?
    /// The status of the flash.
    public var flash: Flash?
    /// The focal length in millimetres.
    public var focalLength: Rational?
    /// The focal length in millimetres that has the same field of view on 35 mm film.
    public var focalLengthIn35mm: Int?

    // Dates.

    /// The date at which the photograph was taken (`DateTimeOriginal`).
    public var taken: PhotoDate?
    /// The date at which it was digitized, such as by a scanner (`DateTimeDigitized`).
    public var digitized: PhotoDate?
    /// The date of the last change of the file (`DateTime`).
    public var modified: PhotoDate?

    // Pixels.

    /// The orientation of the stored rows.
    public var orientation: Orientation?
    /// The size of the stored image (`PixelXDimension` and `PixelYDimension`).
    public var pixelSize: PixelSize?
    /// The colour space.
    public var colorSpace: ColorSpace?

    // Place.

    /// The position of the camera.
    public var location: PhotoLocation?

    /// The program that chose exposure time and aperture.
    public enum ExposureProgram: Int, Hashable, Sendable, CaseIterable {
        /// The photographer chose both.
        case manual = 1
        /// The camera chose both.
        case normal
        /// The photographer chose the aperture.
        case aperturePriority
        /// The photographer chose the exposure time.
        case shutterPriority
        /// The camera favoured depth of field.
        case creative
        /// The camera favoured a short exposure.
        case action
        /// The program for close-ups with the background out of focus.
        case portrait
        /// The program for landscapes with the background in focus.
        case landscape

        /// The name in English.
        public var name: String {
            switch self {
            case .manual: "manual"
            case .normal: "program"
            case .aperturePriority: "aperture priority"
            case .shutterPriority: "shutter priority"
            case .creative: "creative (depth of field)"
            case .action: "action (short exposure)"
            case .portrait: "portrait"
            case .landscape: "landscape"
            }
        }
    }

    /// The part of the scene in which the exposure was measured.
    public enum MeteringMode: Int, Hashable, Sendable, CaseIterable {
        /// The whole scene.
        case average = 1
        /// The whole scene, with more weight on the centre.
        case centerWeighted
        /// One small area.
        case spot
        /// Several small areas.
        case multiSpot
        /// Areas that the camera weighted by the scene.
        case pattern
        /// A part of the scene.
        case partial
        /// Another part.
        case other = 255

        /// The name in English.
        public var name: String {
            switch self {
            case .average: "average"
            case .centerWeighted: "centre-weighted"
            case .spot: "spot"
            case .multiSpot: "several spots"
            case .pattern: "pattern"
            case .partial: "partial"
            case .other: "other"
            }
        }
    }

    /// The white balance mode.
    public enum WhiteBalance: Int, Hashable, Sendable, CaseIterable {
        /// The camera chose the white balance.
        case auto
        /// The photographer chose the white balance.
        case manual
    }

    /// The colour space by the rules of DCF.
    public enum ColorSpace: String, Hashable, Sendable, CaseIterable {
        /// IEC 61966-2-1.
        case sRGB
        /// Adobe RGB (1998).
        case adobeRGB
        /// Any other colour space.
        case uncalibrated
    }

    /// The status of the flash.
    public struct Flash: RawRepresentable, Hashable, Sendable {
        /// The value of the tag `Flash` (0x9209).
        public var rawValue: Int

        /// A status with the value of the tag.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Whether the flash fired.
        public var fired: Bool { rawValue & 1 != 0 }
        /// Whether the camera has no flash.
        public var isMissing: Bool { rawValue & 0x20 != 0 }
        /// Whether red-eye reduction was on.
        public var reducesRedEyes: Bool { rawValue & 0x40 != 0 }
    }

    /// A block without fields.
    public init() {}

    /// The manufacturer and the model of the camera.
    public var cameraName: String? { Self.name(cameraMake, cameraModel) }
    /// The manufacturer and the model of the lens.
    public var lensName: String? { Self.name(lensMake, lensModel) }

    /// Joins both, unless the model begins with the manufacturer.
    private static func name(_ make: String?, _ model: String?) -> String? {
        guard let make, let model else { return model ?? make }
        return model.hasPrefix(make) ? model : "\(make) \(model)"
    }
}

/// The position and the direction of a camera.
public struct PhotoLocation: Hashable, Sendable {
    /// The latitude in degrees north.
    public var latitude: Double
    /// The longitude in degrees east.
    public var longitude: Double
    /// The altitude in metres above sea level.
    public var altitude: Double?
    /// The direction in degrees clockwise from north.
    public var direction: Double?
    /// Whether ``direction`` is relative to magnetic north instead of true north.
    public var isDirectionMagnetic = false
    /// The time of the GPS satellites in UTC.
    public var time: PhotoDate?

    /// A position without altitude, direction and time.
    public init(latitude: Double, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }
}
