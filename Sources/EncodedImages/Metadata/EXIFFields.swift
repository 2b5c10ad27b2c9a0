// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// What an EXIF block says of a photograph and how it was taken.
///
/// It is read on request, as listings of pictures need none of it; see ``EXIF`` for the two facts
/// that they do need. Damage is never an error here: what cannot be read is not there, nor is what
/// a camera left blank.
/// - SeeAlso: CIPA DC-008 (EXIF 2.32), section 4.6.
public struct EXIFFields: Hashable, Sendable {
    // What took it.
    public var cameraMake: String?
    public var cameraModel: String?
    public var cameraSerialNumber: String?
    public var lensMake: String?
    public var lensModel: String?
    public var lensSerialNumber: String?
    public var software: String?

    // Who made it, and of what.
    public var artist: String?
    public var copyright: String?
    public var imageDescription: String?
    public var userComment: String?
    /// Stars from 0 to 5.
    public var rating: Int?

    // How it was exposed.
    /// In seconds.
    public var exposureTime: Rational?
    public var fNumber: Rational?
    public var iso: Int?
    /// In steps of exposure.
    public var exposureBias: Rational?
    public var exposureProgram: ExposureProgram?
    public var meteringMode: MeteringMode?
    public var whiteBalance: WhiteBalance?
    public var flash: Flash?
    /// In millimetres.
    public var focalLength: Rational?
    /// In millimetres, of the lens that shows as much on 35 mm film.
    public var focalLengthIn35mm: Int?

    // When.
    /// When the picture was taken.
    public var taken: PhotoDate?
    /// When it became numbers; for a scan, not the same.
    public var digitized: PhotoDate?
    /// When the file was last changed.
    public var modified: PhotoDate?

    // What the pixels are.
    public var orientation: Orientation?
    public var pixelSize: PixelSize?
    public var colorSpace: ColorSpace?

    // Where.
    public var location: PhotoLocation?

    /// How time of exposure and aperture were chosen.
    public enum ExposureProgram: Int, Hashable, Sendable, CaseIterable {
        case manual = 1
        case normal, aperturePriority, shutterPriority, creative, action, portrait, landscape

        /// The name, in words.
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

    /// What part of the scene the exposure was measured on.
    public enum MeteringMode: Int, Hashable, Sendable, CaseIterable {
        case average = 1
        case centerWeighted, spot, multiSpot, pattern, partial
        case other = 255

        /// The name, in words.
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

    /// Whether the camera chose what is white.
    public enum WhiteBalance: Int, Hashable, Sendable, CaseIterable {
        case auto, manual
    }

    /// The colours that the numbers stand for, by DCF's rules.
    public enum ColorSpace: String, Hashable, Sendable, CaseIterable {
        case sRGB, adobeRGB, uncalibrated
    }

    /// What the flash did; the value is that of the tag `Flash` (0x9209).
    public struct Flash: RawRepresentable, Hashable, Sendable {
        public var rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        public var fired: Bool { rawValue & 1 != 0 }
        public var isMissing: Bool { rawValue & 0x20 != 0 }
        public var reducesRedEyes: Bool { rawValue & 0x40 != 0 }
    }

    /// A block without fields.
    public init() {}

    /// Maker and model of the camera.
    public var cameraName: String? { Self.name(cameraMake, cameraModel) }
    /// Maker and model of the lens.
    public var lensName: String? { Self.name(lensMake, lensModel) }

    /// Many models repeat their maker's name.
    private static func name(_ make: String?, _ model: String?) -> String? {
        guard let make, let model else { return model ?? make }
        return model.hasPrefix(make) ? model : "\(make) \(model)"
    }
}

/// Where a camera stood and looked.
public struct PhotoLocation: Hashable, Sendable {
    /// In degrees, to the north.
    public var latitude: Double
    /// In degrees, to the east.
    public var longitude: Double
    /// In metres above the level of the sea.
    public var altitude: Double?
    /// Where the camera looked, in degrees from north to the east.
    public var direction: Double?
    /// Whether ``direction`` is by the compass rather than by the map.
    public var isDirectionMagnetic = false
    /// By the satellites' clocks, in universal time.
    public var time: PhotoDate?

    public init(latitude: Double, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }
}
