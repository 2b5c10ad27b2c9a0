// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import EncodedImages
internal import Foundation
internal import Synchronization

/// Decodes files and their variants in parallel.
struct SandboxRun: Sendable {
    let codecs: CodecSet
    let seed: UInt64
    let tally = Tally()

    /// Decodes all variants of each file; folders are skipped.
    func decode(_ files: ArraySlice<String>, threadCount: Int) {
        let next = Atomic(files.startIndex)
        DispatchQueue.concurrentPerform(iterations: threadCount) { _ in
            while true {
                let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
                guard index < files.endIndex else { return }
                guard let data = FileManager.default.contents(atPath: files[index]) else {
                    continue
                }
                for (name, input) in Variants(of: Array(data), seed: seed &+ UInt64(index)) {
                    tally.count(decode(input), "\(files[index]) \(name)")
                }
            }
        }
    }

    /// Reads header, metadata and a reduced image; returns the error.
    private func decode(_ input: [UInt8]) -> CodecError? {
        var limits = DecodeLimits()
        limits.maximumPixelCount = 100_000_000
        do throws(CodecError) {
            let source = try ImageSource(EncodedBytes(input), codecs: codecs, limits: limits)
            _ = try? source.metadata()
            var options = DecodeOptions(maximumSide: 100)
            options.acceptsTruncated = true
            _ = try source.image(options)
            return nil
        } catch {
            return error
        }
    }
}
