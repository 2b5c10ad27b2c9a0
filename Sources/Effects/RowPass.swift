// SPDX-License-Identifier: Apache-2.0

internal import Pixels

/// One pass of the rows of an image through the steps of an effect.
final class RowPass {
    private let source: RowConversion
    /// What reads the rows instead of `source`, together with the first operation.
    private let columns: ByteColumns?
    private let first: PointOperations
    private let next: RowStage
    private let result: ResultStage
    private var row: PixelRow

    /// - Parameters:
    ///   - steps: steps that need rows only.
    ///   - size: the size of the image in pixels.
    ///   - format: the format of its rows: one plane, no packed samples.
    ///   - colorProfile: the colour space of the image and the result.
    init(_ steps: [Effect.Step], size: PixelSize, format: PixelFormat, colorProfile: ColorProfile) {
        var plan = PassPlan(size, format)
        for step in steps { plan.append(step) }
        plan.endPoints()
        var first = plan.first ?? PointOperations()
        let table = plan.stages.isEmpty && plan.format == .rgb8 ? first.takeByteTable() : nil
        result = ResultStage(plan.size, plan.format, colorProfile, table)
        var next: RowStage = result
        for makeStage in plan.stages.reversed() { next = makeStage(next) }
        self.next = next
        columns = format == .rgb8 ? first.takeByteColumns() : nil
        self.first = first
        source = RowConversion(format, width: size.width)
        row = PixelRow(repeating: .zero, count: size.width)
    }

    /// Receives the next row from the top.
    func append(_ bytes: Span<UInt8>) {
        PointOperations.forEachChunk(row.count) { range in
            if let columns {
                columns.unpack(bytes, range, into: &row)
            } else {
                source.unpack(bytes, range, into: &row)
            }
            first.apply(to: &row, range)
        }
        next.append(&row)
    }

    /// Returns the result after all rows have been appended.
    func finish() -> PixelBuffer {
        next.finish()
        return result.take()
    }
}

/// Receives rows from the top and passes rows on.
class RowStage {
    /// Receives the next row, which the stage may exchange for another of the same length.
    func append(_ row: inout PixelRow) {}

    /// States that all rows have been appended.
    func finish() {}
}

/// The stages of a pass, in the order of the steps.
private struct PassPlan {
    /// The size of the image after the steps so far.
    var size: PixelSize
    /// The format that holds the colours of the image after the steps so far.
    var format: PixelFormat
    /// The operations before the first stage; `nil` if there is no stage yet.
    var first: PointOperations?
    var stages: [(RowStage) -> RowStage] = []
    private var points: PointOperations

    init(_ size: PixelSize, _ format: PixelFormat) {
        self.size = size
        self.format = format
        points = PointOperations(format)
    }

    /// Ends a run of point operations: before the first stage, or as a stage.
    mutating func endPoints() {
        defer { points = PointOperations(format) }
        guard first != nil else {
            // Colours of integers.
            first = points.withTables(isInRange: true)
            return
        }
        guard !points.isEmpty else { return }
        stages.append { [points] next in PointStage(points.withTables(isInRange: false), next) }
    }

    mutating func append(_ step: Effect.Step) {
        switch step {
        case .matrix(let matrix):
            points.append(matrix)
            if !matrix.keepsGray { format = format.withColors }
        case .curve(let curve): points.append(curve)
        case .cube(let cube):
            points.append(.cube(cube))
            format = format.withColors
        case .background(let color):
            points.append(.background(color.premultiplied))
            if !color.isGray { format = format.withColors }
        default:
            endPoints()
            appendStage(step)
            points = PointOperations(format)
        }
    }

    private mutating func appendStage(_ step: Effect.Step) {
        let size = size
        switch step {
        case .blur(let sigma):
            stages.append { next in
                sigma < BlockBlur.smallestSigma
                    ? GaussianStage(sigma: sigma, sharpening: nil, size, next)
                    : ReducedGaussianStage(sigma: sigma, size, next)
            }
        case .sharpen(let sigma, let amount):
            stages.append { next in
                GaussianStage(sigma: sigma, sharpening: Float(amount), size, next)
            }
        case .pixelate(let side): stages.append { next in PixelateStage(side, size, next) }
        case .overlay(let overlay):
            format = overlay.format(over: format)
            stages.append { next in OverlayStage(overlay, in: size, next) }
        case .pad(let padding):
            stages.append { next in PadStage(padding, size, next) }
            self.size = padding.size(around: size)
            format = padding.format(around: format)
        default: preconditionFailure("\(step) is no stage of a pass")
        }
    }
}

/// Changes single pixels.
private final class PointStage: RowStage {
    private let operations: PointOperations
    private let next: RowStage

    init(_ operations: PointOperations, _ next: RowStage) {
        self.operations = operations
        self.next = next
    }

    override func append(_ row: inout PixelRow) {
        PointOperations.forEachChunk(row.count) { operations.apply(to: &row, $0) }
        next.append(&row)
    }

    override func finish() { next.finish() }
}

/// Writes rows into an image.
private final class ResultStage: RowStage {
    private let conversion: RowConversion
    /// The last operation, see ``PointOperations/takeByteTable()``.
    private let table: [UInt8]?
    private var image: MutablePixelBuffer?
    private var y = 0

    init(
        _ size: PixelSize, _ format: PixelFormat, _ colorProfile: ColorProfile, _ table: [UInt8]?
    ) {
        self.table = table
        conversion = RowConversion(format, width: size.width)
        image = MutablePixelBuffer(size: size, format: format, colorProfile: colorProfile)
    }

    override func append(_ row: inout PixelRow) {
        image?.withMutableRow(y) {
            if let table {
                conversion.pack(row, table, into: &$0)
            } else {
                conversion.pack(row, into: &$0)
            }
        }
        y += 1
    }

    func take() -> PixelBuffer {
        guard let image = image.take() else { preconditionFailure("the result has been taken") }
        return image.finish()
    }
}

extension PixelFormat {
    /// The format with red, green and blue instead of grey.
    var withColors: PixelFormat {
        switch self {
        case .gray8: .rgb8
        case .gray16: .rgb16
        default: self
        }
    }

    /// Whether each channel is a byte, in one plane.
    var hasByteChannels: Bool { [.alpha8, .gray8, .rgb8, .rgba8].contains(self) }

    /// The format with alpha.
    var withAlpha: PixelFormat {
        switch self {
        case .gray8, .rgb8: .rgba8
        case .gray16, .rgb16: .rgba16
        default: self
        }
    }
}
