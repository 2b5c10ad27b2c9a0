// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// The image formats of an `Accept` header, with their weights (RFC 9110, section 12.5.1).
struct AcceptedFormats {
    /// Weights from 0 to 1, by media type in lower case.
    private var weights: [Substring: Double] = [:]
    private static let maximumCount = 64

    /// - Parameter header: the value of `Accept`, such as `image/avif,image/webp;q=0.9,*/*;q=0.8`;
    ///   invalid entries are ignored.
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

    /// Returns the format with the highest weight; of equal weights the first in `formats`.
    ///
    /// Wildcards are ignored: all browsers send them, whatever formats they support.
    ///
    /// - Returns: `nil` if no format is listed, or JPEG has a higher weight.
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
    /// The text without spaces and tabs at both ends.
    var trimmed: Substring {
        let start = drop { $0 == " " || $0 == "\t" }
        return start.lastIndex { $0 != " " && $0 != "\t" }.map { start[...$0] } ?? ""
    }
}
