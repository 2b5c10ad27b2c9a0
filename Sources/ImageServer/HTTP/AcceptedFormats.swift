// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// Which formats of pictures a client says that it can show (RFC 9110, section 12.5.1).
struct AcceptedFormats {
    /// From 0 to 1, by media type in lower case.
    private var weights: [Substring: Double] = [:]
    private static let maximumCount = 64

    /// - Parameter header: such as `image/avif,image/webp;q=0.9,*/*;q=0.8`; what makes no sense in
    ///   it is not there.
    init(_ header: String?) {
        guard let header else { return }
        for entry in header.lowercased().split(separator: ",").prefix(Self.maximumCount) {
            let parts = entry.split(separator: ";").map(\.trimmed)
            guard let type = parts.first else { continue }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }
            guard let number = weight.map({ Double($0.dropFirst(2)) }) ?? 1, 0...1 ~= number else {
                continue
            }
            weights[type] = number
        }
    }

    /// The best of the formats that the client names, the first of those that it likes equally.
    ///
    /// Wildcards count for formats that every client knows, and for those alone: browsers have
    /// always sent them.
    ///
    /// - Returns: `nil` if the client names none, or likes JPEG better.
    func best(of formats: [ImageFormat]) -> ImageFormat? {
        let usual = weights["image/jpeg"] ?? 0
        var best: (format: ImageFormat, weight: Double)?
        for format in formats {
            let weight = weights[Substring(format.mediaType)] ?? 0
            if weight > 0, weight >= usual, weight > best?.weight ?? 0 { best = (format, weight) }
        }
        return best?.format
    }
}

extension Substring {
    /// Without blanks at both ends.
    var trimmed: Substring {
        let start = drop { $0 == " " || $0 == "\t" }
        return start.lastIndex { $0 != " " && $0 != "\t" }.map { start[...$0] } ?? ""
    }
}
