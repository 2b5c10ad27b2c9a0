// SPDX-License-Identifier: Apache-2.0

extension ColorProfile {
    /// Returns the bytes of an ICC profile of the samples, generated unless the profile is one.
    ///
    /// A generated profile is a matrix/TRC display profile of version 4.4, or has one curve for grey.
    /// Code points are stated in its tag `cicp` as well. The curves of PQ and HLG, which exceed the
    /// range of such a profile, are those with which this library converts them to sRGB: tone-mapped,
    /// with 203 cd/m² near white.
    ///
    /// - Parameter isGray: whether pixels have one component.
    /// - Returns: `nil` for sRGB, and for values that a profile cannot contain.
    /// - SeeAlso: ICC.1:2022, sections 8.3.3 and 8.4.3 (required tags), 9.2.17 (`cicp`).
    public func iccBytes(isGray: Bool) -> [UInt8]? {
        switch self {
        case .sRGB:
            return nil
        case .icc(let bytes):
            return bytes.isEmpty ? nil : bytes
        case .calibrated(let gamma, let chromaticities):
            return MatrixProfile(
                name: "gamma \((gamma * 1000).rounded() / 1000)", curve: .power(gamma),
                chromaticities: chromaticities
            ).bytes(isGray: isGray)
        case .coded(let points):
            if points.isSRGB { return nil }
            return MatrixProfile(
                name: points.specified.name, curve: points.curve,
                chromaticities: points.chromaticities, points: points.specified
            ).bytes(isGray: isGray)
        }
    }
}

/// The contents of a generated ICC profile.
private struct MatrixProfile {
    let name: String
    let curve: CICP.Transfer
    let chromaticities: ColorProfile.Chromaticities
    var points: CICP?

    /// Returns the profile; `nil` if a value is invalid.
    func bytes(isGray: Bool) -> [UInt8]? {
        guard let adaptation = chromaticities.adaptation, let curve = curveTag,
            let matrix = chromaticities.connectionMatrix,
            let illuminant = Self.tag("XYZ ", [ColorProfile.Chromaticities.illuminant]),
            let chromatic = Self.tag("sf32", adaptation.rows)
        else { return nil }
        var tags = [
            ("desc", Self.text(name)), ("cprt", Self.text("No copyright")),
            ("wtpt", illuminant), ("chad", chromatic),
        ]
        if isGray {
            tags.append(("kTRC", curve))
        } else {
            for (name, column) in zip(["rXYZ", "gXYZ", "bXYZ"], matrix.columns) {
                guard let column = Self.tag("XYZ ", [column]) else { return nil }
                tags.append((name, column))
            }
            // Equal tags share their bytes.
            tags += [("rTRC", curve), ("gTRC", []), ("bTRC", [])]
            if let points, let primaries = UInt8(exactly: points.primaries),
                let transfer = UInt8(exactly: points.transfer)
            {
                // RGB in full range.
                tags.append(("cicp", Array("cicp".utf8) + [0, 0, 0, 0, primaries, transfer, 0, 1]))
            }
        }
        return Self.file(colorSpace: isGray ? "GRAY" : "RGB ", tags)
    }

    /// The tag of the curve: parametric, or 16-bit samples where no formula exists.
    private var curveTag: [UInt8]? {
        let parameters: [Double]
        switch curve {
        case .linear: parameters = [1]
        case .power(let exponent): parameters = [exponent]
        case .sRGB: parameters = [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045]
        case .perceptualQuantizer, .hybridLogGamma:
            let table = TransferCurve(curve).table
            return Array("curv".utf8) + Self.integer(0) + Self.integer(table.count)
                + table.flatMap { Self.integer(Int(($0 * 65535).rounded()), byteCount: 2) }
        }
        let fields = parameters.map(Self.fixed)
        guard fields.allSatisfy({ $0 != nil }) else { return nil }
        // Function type 0 is a power, 3 that of sRGB.
        let type = parameters.count == 1 ? 0 : 3
        return Array("para".utf8) + Self.integer(0) + Self.integer(type, byteCount: 2) + [0, 0]
            + fields.flatMap { $0 ?? [] }
    }

    /// Returns a tag of numbers; `nil` if one is out of range.
    private static func tag(_ type: String, _ values: [SIMD3<Double>]) -> [UInt8]? {
        let fields = values.flatMap { [$0.x, $0.y, $0.z] }.map(fixed)
        guard fields.allSatisfy({ $0 != nil }) else { return nil }
        return Array(type.utf8) + integer(0) + fields.flatMap { $0 ?? [] }
    }

    /// Returns a tag of a text in English (ICC.1 10.15).
    private static func text(_ text: String) -> [UInt8] {
        let units = text.utf16.flatMap { integer(Int($0), byteCount: 2) }
        return Array("mluc".utf8) + integer(0) + integer(1) + integer(12) + Array("enUS".utf8)
            + integer(units.count) + integer(28) + units
    }

    /// Returns a profile of tags; a tag without bytes has those of the previous one.
    private static func file(
        colorSpace: String, _ tags: [(name: String, bytes: [UInt8])]
    ) -> [UInt8] {
        var table = integer(tags.count)
        var data: [UInt8] = []
        var (start, count) = (0, 0)
        for tag in tags {
            if !tag.bytes.isEmpty {
                start = 132 + tags.count * 12 + data.count
                count = tag.bytes.count
                data += tag.bytes
                data += Array(repeating: 0, count: (4 - data.count % 4) % 4)
            }
            table += Array(tag.name.utf8) + integer(start) + integer(count)
        }
        // The header (ICC.1 7.2), with a constant date so that equal images give equal files.
        var header = integer(128 + table.count + data.count) + integer(0) + integer(0x0440_0000)
        header += Array("mntr\(colorSpace)XYZ ".utf8)
        header += [2025, 1, 1, 0, 0, 0].flatMap { integer($0, byteCount: 2) }
        header += Array("acsp".utf8) + Array(repeating: 0, count: 28)
        let illuminant = ColorProfile.Chromaticities.illuminant
        header += [illuminant.x, illuminant.y, illuminant.z].flatMap { fixed($0) ?? [] }
        header += Array(repeating: 0, count: 128 - header.count)
        return header + table + data
    }

    /// Returns an s15Fixed16Number; `nil` if the value is out of range.
    private static func fixed(_ value: Double) -> [UInt8]? {
        Int32(exactly: (value * 65536).rounded()).map { integer(Int($0)) }
    }

    private static func integer(_ value: Int, byteCount: Int = 4) -> [UInt8] {
        (0..<byteCount).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
}
