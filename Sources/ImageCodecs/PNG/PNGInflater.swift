// SPDX-License-Identifier: Apache-2.0

#if PNG
    internal import CPNG
    internal import EncodedImages

    /// The only owner of a zlib stream that is being inflated.
    @safe struct PNGInflater: ~Copyable {
        private let raw: OpaquePointer
        private(set) var hasEnded = false

        /// - Parameter verifiesChecksum: whether the stream's checksum is compared at its end.
        /// - Throws: ``CodecError/library(message:)`` without memory.
        init(verifiesChecksum: Bool = true) throws(CodecError) {
            guard let raw = unsafe calotype_inflate_create(verifiesChecksum) else {
                throw .library(message: "no memory to inflate")
            }
            unsafe self.raw = raw
        }

        deinit { unsafe calotype_inflate_destroy(raw) }

        /// Inflates from `input` into a part of `output`.
        ///
        /// - Returns: how many bytes were taken and made; `nil` if the stream is damaged.
        mutating func inflate(
            _ input: Span<UInt8>, into output: inout [UInt8], at room: Range<Int>
        ) -> (taken: Int, made: Int)? {
            precondition(
                room.lowerBound >= 0 && room.upperBound <= output.count,
                "no such part of the output")
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

        /// Inflates a whole stream.
        ///
        /// - Parameters:
        ///   - input: the stream.
        ///   - limit: what it stands for, which bounds what it may become; see
        ///     `DecodeLimits.decompressedByteCount(_:of:)`.
        ///   - limits: what the file may ask for.
        /// - Returns: `nil` if the stream is damaged.
        /// - Throws: ``CodecError/limitExceeded(_:needed:allowed:)`` as soon as there is more.
        static func inflated(
            _ input: Span<UInt8>, _ limit: DecodeLimits.Name, _ limits: DecodeLimits
        ) throws(CodecError) -> [UInt8]? {
            guard var inflater = try? PNGInflater() else { return nil }
            // One byte more shows that there is more.
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
