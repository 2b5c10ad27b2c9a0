// SPDX-License-Identifier: Apache-2.0

/// The row loops for 16-bit samples in native byte order.
extension RowKernels {
    /// Converts a row of samples to floats.
    static func widenSamples16(_ source: Span<UInt8>, into result: inout [Float]) {
        let count = source.count / 2
        precondition(result.count >= count, "the result is shorter than the row")
        source.withSamples16 { samples in
            unsafe result.withUnsafeMutableBufferPointer { result in
                for index in 0..<count { unsafe result[index] = Float(samples[index]) }
            }
        }
    }

    /// Converts floats to a row of samples: clamped, and rounded to the nearest integer.
    static func roundToSamples16(_ source: [Float], into result: inout [UInt8]) {
        precondition(result.count >= source.count * 2, "the result is shorter than the row")
        unsafe source.withUnsafeBufferPointer { source in
            unsafe result.withUnsafeMutableBytes { result in
                let samples = unsafe result.bindMemory(to: UInt16.self)
                for index in source.indices {
                    let limited = unsafe min(max(source[index], 0), 65535)
                    unsafe samples[index] = UInt16(limited + 0.5)
                }
            }
        }
    }

    /// Clamps the colours of premultiplied pixels to their alpha.
    static func limitColorsToAlpha16(_ row: inout [UInt8]) {
        unsafe row.withUnsafeMutableBytes { row in
            let samples = unsafe row.bindMemory(to: UInt16.self)
            for pixel in stride(from: 0, to: samples.count - 3, by: 4) {
                let alpha = unsafe samples[pixel + 3]
                for channel in pixel..<pixel + 3 {
                    unsafe samples[channel] = unsafe min(samples[channel], alpha)
                }
            }
        }
    }
}
