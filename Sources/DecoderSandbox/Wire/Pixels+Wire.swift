// SPDX-License-Identifier: Apache-2.0

internal import Pixels

extension Orientation: WireValue {}
extension ResizeMode: WireValue {}
extension ResamplingKernel: WireValue {}
extension Dithering: WireValue {}
extension PixelFormat: WireValue {}

extension PixelSize: WireValue {
    func write(to writer: inout WireWriter) {
        writer.write(width)
        writer.write(height)
    }

    /// Reads the unchecked size of a request; ``init(imageFrom:)`` reads that of an image.
    init(from reader: inout WireReader) throws(WireError) {
        self.init(width: try reader.number(), height: try reader.number())
    }

    /// Reads the size of an image, at least 1×1.
    init(imageFrom reader: inout WireReader) throws(WireError) {
        try self.init(from: &reader)
        let sides = 1...Int(Int32.max)
        guard sides.contains(width), sides.contains(height) else {
            throw WireError(reason: "an image has no valid size")
        }
    }
}

extension PixelRect: WireValue {
    func write(to writer: inout WireWriter) {
        for number in [x, y, width, height] { writer.write(number) }
    }

    init(from reader: inout WireReader) throws(WireError) {
        self.init(
            x: try reader.number(), y: try reader.number(), width: try reader.number(),
            height: try reader.number())
        let numbers = -Int(Int32.max)...Int(Int32.max)
        guard [x, y, width, height].allSatisfy(numbers.contains) else {
            throw WireError(reason: "a rectangle is out of range")
        }
    }
}

extension CICP: WireValue {
    func write(to writer: inout WireWriter) {
        writer.write(primaries)
        writer.write(transfer)
    }

    init(from reader: inout WireReader) throws(WireError) {
        self.init(primaries: try reader.number(), transfer: try reader.number())
    }
}

extension ColorProfile.Chromaticities.Point: WireValue {
    func write(to writer: inout WireWriter) {
        writer.write(x)
        writer.write(y)
    }

    init(from reader: inout WireReader) throws(WireError) {
        self.init(x: try reader.value(), y: try reader.value())
    }
}

extension ColorProfile: WireValue {
    func write(to writer: inout WireWriter) {
        switch self {
        case .sRGB:
            writer.write(0)
        case .icc(let bytes):
            writer.write(1)
            writer.write(bytes)
        case .calibrated(let gamma, let points):
            writer.write(2)
            writer.write(gamma)
            for point in [points.white, points.red, points.green, points.blue] {
                writer.write(point)
            }
        case .coded(let points):
            writer.write(3)
            writer.write(points)
        }
    }

    init(from reader: inout WireReader) throws(WireError) {
        switch try reader.number() {
        case 0: self = .sRGB
        case 1: self = .icc(try reader.block())
        case 2:
            self = .calibrated(
                gamma: try reader.value(),
                Chromaticities(
                    white: try reader.value(), red: try reader.value(),
                    green: try reader.value(), blue: try reader.value()))
        case 3: self = .coded(try reader.value())
        default: throw WireError(reason: "a colour profile is of an unknown kind")
        }
    }
}
