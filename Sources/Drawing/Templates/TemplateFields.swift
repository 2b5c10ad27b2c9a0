// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// The members of an object of a template, read one by one.
struct TemplateFields {
    /// The place of the object in messages, such as `layers[2]`.
    let path: String
    private var members: [TemplateValue.Member]
    private var known: [String] = []

    init(_ value: TemplateValue, _ path: String) throws(DrawingError) {
        self.path = path
        guard case .object(let members) = value else {
            throw .invalid(reason: "\(path): an object is expected, not \(value.typeName)")
        }
        self.members = members
    }

    /// Returns an error at a member.
    func failure(_ key: String, _ reason: String) -> DrawingError {
        .invalid(reason: "\(path.isEmpty ? "" : path + ".")\(key): \(reason)")
    }

    /// Takes a member; `nil` if it is missing.
    mutating func value(_ key: String) -> TemplateValue? {
        known.append(key)
        guard let index = members.firstIndex(where: { $0.key == key }) else { return nil }
        return members.remove(at: index).value
    }

    mutating func required(_ key: String) throws(DrawingError) -> TemplateValue {
        guard let value = value(key) else { throw failure(key, "is missing") }
        return value
    }

    mutating func string(_ key: String) throws(DrawingError) -> String? {
        switch value(key) {
        case nil: return nil
        case .string(let text)?: return text
        case let other?: throw failure(key, "a string is expected, not \(other.typeName)")
        }
    }

    mutating func number(
        _ key: String, in range: ClosedRange<Double>
    ) throws(DrawingError) -> Double? {
        guard let value = value(key) else { return nil }
        return try number(value, key, in: range)
    }

    private func number(
        _ value: TemplateValue, _ key: String, in range: ClosedRange<Double>
    ) throws(DrawingError) -> Double {
        guard case .number(let number) = value else {
            throw failure(key, "a number is expected, not \(value.typeName)")
        }
        guard range.contains(number) else {
            throw failure(key, "\(number) is not from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    mutating func numbers(
        _ key: String, count: Int, in range: ClosedRange<Double>
    ) throws(DrawingError) -> [Double]? {
        guard let value = value(key) else { return nil }
        guard case .array(let values) = value, values.count == count else {
            throw failure(key, "an array of \(count) numbers is expected")
        }
        var numbers: [Double] = []
        for value in values { numbers.append(try number(value, key, in: range)) }
        return numbers
    }

    mutating func color(_ key: String) throws(DrawingError) -> SRGBColor? {
        guard let text = try string(key) else { return nil }
        guard let color = SRGBColor(hexadecimal: text) else {
            throw failure(key, "invalid colour \"\(text)\"; use #rgb, #rgba, #rrggbb or #rrggbbaa")
        }
        return color
    }

    mutating func choice<Choice: RawRepresentable & CaseIterable>(
        _ key: String, _ type: Choice.Type
    ) throws(DrawingError) -> Choice? where Choice.RawValue == String {
        guard let text = try string(key) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            let names = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw failure(key, "unknown value \"\(text)\"; use one of \(names)")
        }
        return choice
    }

    /// Checks that all members have been read.
    func finish() throws(DrawingError) {
        guard let member = members.first else { return }
        throw failure(
            member.key, "unknown property; use one of \(known.sorted().joined(separator: ", "))")
    }
}

extension SRGBColor {
    /// Creates a colour from `#rgb`, `#rgba`, `#rrggbb` or `#rrggbbaa`; `nil` for other texts.
    public init?(hexadecimal text: String) {
        var digits = Array(text.utf8)
        guard digits.first == UInt8(ascii: "#") else { return nil }
        digits.removeFirst()
        if digits.count == 3 || digits.count == 4 { digits = digits.flatMap { [$0, $0] } }
        guard digits.count == 6 || digits.count == 8 else { return nil }
        var values: [Double] = []
        for start in stride(from: 0, to: digits.count, by: 2) {
            let pair = String(decoding: digits[start..<start + 2], as: UTF8.self)
            guard pair.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
                let value = UInt8(pair, radix: 16)
            else { return nil }
            values.append(Double(value) / 255)
        }
        self.init(
            red: values[0], green: values[1], blue: values[2],
            alpha: values.count == 4 ? values[3] : 1)
    }
}
