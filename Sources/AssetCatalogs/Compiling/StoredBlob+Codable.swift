// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
internal import Pixels

/// The form of blobs in a cache of encoded sources; the bytes are one value and not an array of numbers.
extension StoredBlob: Codable {
    private enum CodingKeys: String, CodingKey {
        case kind, width, height, format, detail, bytes
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        guard let kind = CompiledBlob.Kind(rawValue: try values.decode(Int.self, forKey: .kind)),
            let format = PixelFormat(rawValue: try values.decode(String.self, forKey: .format))
        else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "unknown kind or format"))
        }
        self.init(
            kind: kind,
            size: PixelSize(
                width: try values.decode(Int.self, forKey: .width),
                height: try values.decode(Int.self, forKey: .height)),
            format: format, detail: try values.decode(Int.self, forKey: .detail),
            bytes: Array(try values.decode(Data.self, forKey: .bytes)))
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(kind.rawValue, forKey: .kind)
        try values.encode(size.width, forKey: .width)
        try values.encode(size.height, forKey: .height)
        try values.encode(format.rawValue, forKey: .format)
        try values.encode(detail, forKey: .detail)
        try values.encode(Data(bytes), forKey: .bytes)
    }
}
