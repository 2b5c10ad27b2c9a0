// SPDX-License-Identifier: Apache-2.0

internal import CLibPNG
internal import EncodedImages
@testable internal import ImageCodecs
internal import Pixels

/// Compares our PNG decoder with libpng.
///
/// Rows are read where the codec passes them to the resampler, so that neither side stores an
/// image; ours are premultiplied, libpng's are not.
enum PNGContest {
    static let peerName = unsafe String(cString: libpng_peer_version())

    static func contests(_ path: String, verifiesChecksums: Bool) throws -> [Contest] {
        let bytes = try EncodedBytes(reading: path)
        let source = try ImageSource(bytes, codecs: builtInCodecs)
        guard source.format.name == "png" else { throw Failure(description: "not a PNG: \(path)") }
        let hasAlpha = source.header.hasAlpha
        let (ours, peers) = (try sum(bytes, verifiesChecksums), try peerSum(bytes))
        guard hasAlpha || ours == peers else {
            throw Failure(description: "the two decoders differ: \(path)")
        }
        let file = String(path.split(separator: "/").last ?? "")
        let area = source.header.storedSize.area
        var options = DecodeOptions(maximumSide: 400)
        options.verifiesChecksums = verifiesChecksums
        let thumbnail = options
        return [
            Contest(
                file: file, work: "all rows", pixelCount: area, byteCount: bytes.count,
                ours: { _ = try sum(bytes, verifiesChecksums) }, peer: { _ = try peerSum(bytes) }),
            Contest(
                file: file, work: "to 400 px; the peer only all rows", pixelCount: area,
                byteCount: bytes.count, ours: { _ = try source.image(thumbnail) },
                peer: { _ = try peerSum(bytes) }),
        ]
    }

    /// The sum of the samples of every 64th column, which must be the same for both.
    private static func sum(
        _ bytes: EncodedBytes, _ verifiesChecksums: Bool
    ) throws(CodecError) -> UInt64 {
        try bytes.withBytes { file throws(CodecError) in
            let header = try PNGHeader(file, limits: DecodeLimits())
            let samples = PNGSamples(header)
            let step = samples.format.bytesPerPixel
            var total: UInt64 = 0
            var source = try PNGFilteredRows(
                header.dataChunks, verifiesChecksums: verifiesChecksums)
            var rows = PNGRows(header.layout, samples, cancellation: nil)
            try rows.forEach(in: file, &source) { row throws(CodecError) in
                var start = 0
                while start < row.count {
                    for index in start..<start + step { total += UInt64(row[index]) }
                    start += 64 * step
                }
            }
            try source.finish(file)
            return total
        }
    }

    private static func peerSum(_ bytes: EncodedBytes) throws -> UInt64 {
        var sum: UInt64 = 0
        let isDecoded = bytes.withBytes { file in
            unsafe file.withUnsafeBufferPointer {
                unsafe libpng_peer_decode($0.baseAddress, $0.count, &sum)
            }
        }
        guard isDecoded else { throw Failure(description: "libpng rejects the file") }
        return sum
    }
}
