// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

extension ImageFormat {
    static let svg = ImageFormat(
        name: "svg", extensions: ["svg"], mediaType: "image/svg+xml",
        signatures: [Signature(Array("<svg".utf8))])
}

#if SVG
    /// SVG (W3C SVG 1.1 and parts of 2), drawn by librsvg at the size that is asked for.
    ///
    /// A document is a program for a large interpreter, so this codec is not among the built-in
    /// ones: whoever trusts the files adds it. References to other files lead nowhere. A document
    /// without a size is as large as its view box, or 512 pixels a side.
    struct SVGCodec: ImageCodec {
        /// What may stand before the root element.
        private static let longestProlog = 4096

        let format = ImageFormat.svg
        let decoder: any ImageDecoder = SVGDecoder()
        let encoder: (any ImageEncoder)? = nil

        /// The root element may come after a declaration, comments and a document type.
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

        /// The byte after a declaration, a comment or a document type with what it declares.
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

extension CodecEntry {
    static var svg: CodecEntry {
        #if SVG
            var entry = CodecEntry(SVGCodec())
            entry.isSandboxOnly = true
            entry.rehearsals = { [SVGRehearsal.document] }
            return entry
        #else
            CodecEntry(missing: .svg, trait: "SVG")
        #endif
    }
}
