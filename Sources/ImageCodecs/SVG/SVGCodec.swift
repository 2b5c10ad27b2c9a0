// SPDX-License-Identifier: Apache-2.0

#if SVG
internal import CSVG
#endif
internal import EncodedImages

let svgFormat = ImageFormat(
    name: "svg", extensions: ["svg"], mediaType: "image/svg+xml",
    signatures: [.init(Array("<svg".utf8))])

#if SVG
/// SVG (W3C SVG 1.1 and parts of 2), rendered by librsvg at the requested size.
///
/// Rendering a document exposes a large interpreter, so this codec is not among the built-in
/// ones; a caller that trusts its files adds it. References to other files are not resolved. A
/// document without a size has the size of its view box, or 512 × 512 pixels.
struct SVGCodec: ImageCodec {
    /// The maximum length of the text before the root element, in bytes.
    private static let longestProlog = 4096

    let format = svgFormat
    let decoder: any ImageDecoder = VectorDecoder<SVGDocument>()
    let encoder: (any ImageEncoder)? = nil

    /// The XML declaration, comments and a document type may precede the root element.
    func recognizedByteCount(_ file: Span<UInt8>) -> Int {
        let root = Array("<svg".utf8)
        var offset = file.count >= 3 && file[0] == 0xEF && file[1] == 0xBB ? 3 : 0
        while offset < min(file.count, Self.longestProlog) {
            switch file[offset] {
            case 0x20, 0x09, 0x0A, 0x0D: offset += 1
            case UInt8(ascii: "<"):
                guard offset + 4 <= file.count else { return 0 }
                if root.indices.allSatisfy({ file[offset + $0] == root[$0] }) { return 4 }
                let next = file[offset + 1]
                guard next == UInt8(ascii: "?") || next == UInt8(ascii: "!") else { return 0 }
                offset = Self.endOfMarkup(file, offset)
            default: return 0
            }
        }
        return 0
    }

    /// Returns the offset after a declaration, a comment or a document type with its internal
    /// subset.
    private static func endOfMarkup(_ file: Span<UInt8>, _ start: Int) -> Int {
        let isComment = file[start + 2] == UInt8(ascii: "-")
        var depth = 0
        for offset in start..<min(file.count, longestProlog) {
            switch file[offset] {
            case UInt8(ascii: "[") where !isComment: depth += 1
            case UInt8(ascii: "]") where !isComment: depth -= 1
            case UInt8(ascii: ">"):
                let endsComment =
                    file[offset - 1] == UInt8(ascii: "-")
                    && file[offset - 2] == UInt8(ascii: "-")
                if isComment ? endsComment && offset > start + 4 : depth <= 0 {
                    return offset + 1
                }
            default: break
            }
        }
        return longestProlog
    }
}
#endif

var svgEntry: CodecEntry {
    #if SVG
    var entry = CodecEntry(SVGCodec(), preload: { _ = unsafe calotype_svg_missing() })
    entry.isSandboxOnly = true
    entry.needsOwnProcess = true
    entry.rehearsals = { [SVGRehearsal.document] }
    return entry
    #else
    CodecEntry(missing: svgFormat, trait: "SVG")
    #endif
}
