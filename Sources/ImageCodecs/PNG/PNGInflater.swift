// SPDX-License-Identifier: Apache-2.0

#if PNG
internal import CPNG
internal import EncodedImages

/// The sole owner of an inflate state for one zlib stream.
@safe struct PNGInflater: ~Copyable {
    private let raw: OpaquePointer
    private(set) var hasEnded = false

    /// - Parameter verifiesChecksum: whether the Adler-32 is compared at the end of the stream.
    /// - Throws: ``CodecError/library(message:)`` if memory is exhausted.
    init(verifiesChecksum: Bool = true) throws(CodecError) {
        guard let raw = unsafe calotype_inflate_create(verifiesChecksum) else {
            throw .library(message: "out of memory: cannot create an inflate state")
        }
        unsafe self.raw = raw
    }

    deinit { unsafe calotype_inflate_destroy(raw) }

    /// Inflates from `input` into a part of `output`.
    ///
    /// - Returns: the numbers of bytes consumed and produced; `nil` if the stream is damaged.
    mutating func inflate(
        _ input: Span<UInt8>, into output: inout [UInt8], at room: Range<Int>
    ) -> (taken: Int, made: Int)? {
        precondition(
            room.lowerBound >= 0 && room.upperBound <= output.count,
            "the range is outside of the output")
        var taken = 0
        var made = 0
        let status = unsafe input.withUnsafeBufferPointer { input in
            unsafe output.withUnsafeMutableBufferPointer { output in
                unsafe calotype_inflate_run(
                    raw, input.baseAddress, input.count, &taken,
                    output.baseAddress?.advanced(by: room.lowerBound), room.count, &made)
            }
        }
        guard status != calotype_inflate_malformed else { return nil }
        hasEnded = status == calotype_inflate_ended
        return (taken, made)
    }

    /// Inflates a whole zlib stream.
    ///
    /// - Parameters:
    ///   - input: the zlib stream.
    ///   - limit: the limit that bounds the result; see
    ///     `DecodeLimits.decompressedByteCount(_:of:)`.
    ///   - limits: the limits for the file.
    /// - Returns: the inflated bytes; `nil` if the stream is damaged.
    /// - Throws: ``CodecError/limitExceeded(_:needed:allowed:)`` as soon as the limit is
    ///   exceeded.
    static func inflated(
        _ input: Span<UInt8>, _ limit: DecodeLimits.Name, _ limits: DecodeLimits
    ) throws(CodecError) -> [UInt8]? {
        guard var inflater = try? PNGInflater() else { return nil }
        // One byte above the limit detects an excess.
        let allowed = limits.decompressedByteCount(limit, of: input.count)
        let most = max(0, allowed) + 1
        var output = [UInt8](repeating: 0, count: min(most, 4096))
        var taken = 0
        var made = 0
        while !inflater.hasEnded {
            if made == output.count {
                guard made <= allowed else {
                    throw .limitExceeded(limit, needed: made, allowed: allowed)
                }
                output += Array(repeating: 0, count: min(made, most - made))
            }
            let rest = input.extracting(taken..<input.count)
            guard let step = inflater.inflate(rest, into: &output, at: made..<output.count),
                step.taken > 0 || step.made > 0 || inflater.hasEnded
            else { return nil }
            taken += step.taken
            made += step.made
        }
        guard made <= allowed else {
            throw .limitExceeded(limit, needed: made, allowed: allowed)
        }
        return Array(output[..<made])
    }
}
#endif
