// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
public import Pixels

/// A variant of an asset in a file of Apple's compiler.
public struct CarRendition: Sendable {
    /// The name of the asset.
    public let name: String
    /// The name of the file that was compiled.
    public let fileName: String
    /// The devices that it is made for.
    public let traits: AssetTraits
    /// The size of the image in pixels; empty for vectors and data.
    public let pixelSize: PixelSize
    /// Whether it is the file of vectors.
    public let isVector: Bool
    /// Whether it was drawn from vectors by the compiler.
    public let isDrawn: Bool
    /// How the image is drawn.
    public let renderingMode: Asset.RenderingMode?
    /// The margins outside the alignment rectangle, in pixels.
    public let alignmentInsets: AssetInsets?
    /// How the image is resized in parts; the file contains only those parts.
    public let slicing: AssetSlicing?

    /// The values of the key, in the order of the file.
    let key: [Int]
    /// The code of the pixel format, such as `ARGB`.
    let format: String
    /// The number of the colour space.
    let colorSpace: Int
    /// The bytes of the pixels or of the file.
    let content: Range<Int>
    /// The number of bytes of a row.
    let bytesPerRow: Int
    /// The part of a sheet that is the image.
    let link: CarLink?
    /// Whether it is a sheet of packed images.
    let isSheet: Bool
}

/// A part of another rendition.
struct CarLink: Sendable {
    let x: Int
    /// The distance from the bottom of the sheet.
    let y: Int
    /// The values of the key of the sheet by their attributes; others are 0.
    let attributes: [Int: Int]
}

/// The attributes of a key that are interpreted.
///
/// - SeeAlso: the names of CoreUI, as in github.com/facebookarchive/xcbuild, Libraries/car.
enum CarAttribute: Int {
    case appearance = 7
    case scale = 12
    case localization = 13
    case idiom = 15
    case subtype = 16
    case identifier = 17
    case widthClass = 20
    case heightClass = 21
    case memory = 22
    case graphics = 23
    case gamut = 24
}

extension AssetTraits {
    /// The traits of the key of a rendition.
    init(_ value: (CarAttribute) -> Int) {
        self.init()
        func text(_ attribute: CarAttribute, _ names: [Int: String]) -> String? {
            let code = value(attribute)
            return code == 0 ? nil : names[code] ?? "\(code)"
        }
        idiom = text(
            .idiom, [1: "iphone", 2: "ipad", 3: "tv", 4: "car", 5: "watch", 6: "ios-marketing"])
        subtype = text(.subtype, [568: "retina4"])
        let classes = [1: "compact", 2: "regular"]
        widthClass = text(.widthClass, classes)
        heightClass = text(.heightClass, classes)
        graphics = text(.graphics, [1: "metal1v2", 2: "metal2v2", 3: "metal3v1"])
        gamut = text(.gamut, [1: "display-P3"])
        luminosity = text(.appearance, [:])
        locale = text(.localization, [:])
        memory = [1: 1, 2: 2, 3: 4][value(.memory)]
        let scale = value(.scale)
        self.scale = scale == 0 ? nil : scale
    }
}

/// The header of a rendition, `CSI`, and the properties that follow it.
struct CarHeader {
    private(set) var flags = 0
    private(set) var size = PixelSize(width: 0, height: 0)
    private(set) var format = ""
    private(set) var colorSpace = 0
    private(set) var layout = 0
    private(set) var fileName = ""
    private(set) var slices: [PixelRect] = []
    private(set) var alignment: AssetInsets?
    private(set) var bytesPerRow = 0
    private(set) var link: CarLink?
    private(set) var linkLayout: Int?
    private(set) var content = 0..<0

    init(_ file: Span<UInt8>, _ range: Range<Int>) throws(CompiledDamage) {
        let start = range.lowerBound
        guard range.count >= 184, file.text(at: start, byteCount: 4) == "ISTC" else {
            throw CompiledDamage(reason: "invalid header of a rendition")
        }
        func number(_ offset: Int) -> Int { file.littleEndian(at: offset, byteCount: 4) }
        flags = number(start + 8)
        size = PixelSize(width: number(start + 12), height: number(start + 16))
        format = String(file.text(at: start + 24, byteCount: 4).reversed())
        colorSpace = number(start + 28) & 0xF
        layout = file.littleEndian(at: start + 36, byteCount: 2)
        let name = start + 40
        let nameEnd = (name..<name + 128).first { file[$0] == 0 } ?? name + 128
        fileName = file.text(at: name, byteCount: nameEnd - name)
        let propertiesByteCount = number(start + 168)
        let contentByteCount = number(start + 180)
        guard propertiesByteCount <= range.count - 184,
            contentByteCount <= range.count - 184 - propertiesByteCount
        else { throw CompiledDamage(reason: "\(fileName): the content exceeds the rendition") }
        var offset = start + 184
        let end = offset + propertiesByteCount
        content = end..<end + contentByteCount
        while offset <= end - 8 {
            let tag = number(offset)
            let count = number(offset + 4)
            guard count <= end - offset - 8 else {
                throw CompiledDamage(reason: "\(fileName): the property \(tag) is too long")
            }
            try readProperty(file, tag, offset + 8..<offset + 8 + count)
            offset += 8 + count
        }
    }

    private mutating func readProperty(
        _ file: Span<UInt8>, _ tag: Int, _ range: Range<Int>
    ) throws(CompiledDamage) {
        func number(_ index: Int) -> Int {
            file.littleEndian(at: range.lowerBound + index * 4, byteCount: 4)
        }
        switch tag {
        case 1001 where range.count >= 4:
            guard number(0) <= 9, range.count >= 4 + number(0) * 16 else {
                throw CompiledDamage(reason: "\(fileName): invalid slices")
            }
            slices = (0..<number(0)).map {
                PixelRect(
                    x: number(1 + $0 * 4), y: number(2 + $0 * 4), width: number(3 + $0 * 4),
                    height: number(4 + $0 * 4))
            }
        case 1003 where range.count >= 28:
            let numbers = (1...4).map { Double(number($0)) }
            guard numbers.contains(where: { $0 != 0 }) else { return }
            alignment = AssetInsets(
                top: numbers[1], left: numbers[0], bottom: numbers[3], right: numbers[2])
        case 1007 where range.count >= 4: bytesPerRow = number(0)
        case 1010 where range.count >= 30:
            let tokens = range.lowerBound + 30
            var attributes: [Int: Int] = [:]
            for offset in stride(from: tokens, to: range.upperBound - 3, by: 4) {
                let attribute = file.littleEndian(at: offset, byteCount: 2)
                if attribute == 0 { break }
                attributes[attribute] = file.littleEndian(at: offset + 2, byteCount: 2)
            }
            linkLayout = file.littleEndian(at: range.lowerBound + 24, byteCount: 2)
            size = PixelSize(width: number(4), height: number(5))
            link = CarLink(x: number(2), y: number(3), attributes: attributes)
        default: break
        }
    }

    /// How the image is resized, by the layout and its slices, whose rows are counted from the bottom.
    var slicing: AssetSlicing? {
        let layout = linkLayout ?? layout
        func parts(
            _ mode: String, top: Int = 0, left: Int = 0, bottom: Int = 0, right: Int = 0,
            tiles: Bool, width: Int? = nil, height: Int? = nil
        ) -> AssetSlicing {
            AssetSlicing(
                mode: mode,
                capInsets: AssetInsets(
                    top: Double(top), left: Double(left), bottom: Double(bottom),
                    right: Double(right)),
                centerMode: tiles ? "tile" : "stretch", centerWidth: width.map { Double($0) },
                centerHeight: height.map { Double($0) })
        }
        switch (layout, slices.count) {
        case (20...22, 3):
            return parts(
                "3-part-horizontal", left: slices[0].width, right: slices[2].width,
                tiles: layout == 20, width: slices[1].width)
        case (23...25, 3):
            return parts(
                "3-part-vertical", top: slices[0].height, bottom: slices[2].height,
                tiles: layout == 23, height: slices[1].height)
        case (30...34, 9):
            return parts(
                "9-part", top: slices[0].height, left: slices[0].width, bottom: slices[6].height,
                right: slices[2].width, tiles: layout == 30, width: slices[4].width,
                height: slices[4].height)
        default: return nil
        }
    }
}
