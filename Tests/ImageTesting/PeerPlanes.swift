// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Samples that Pillow decodes from a JPEG file, in the file's colour space.
public struct PeerPlanes: Sendable {
    public var width: Int
    public var height: Int
    public var channelCount: Int
    /// L, RGB, YCbCr, CMYK, or YCCK; of the latter only K equals the file's samples.
    public var mode: String
    /// The samples row by row, interleaved.
    public var samples: [UInt8]

    /// Decodes files in one run of Pillow.
    ///
    /// - Parameters:
    ///   - files: JPEG files.
    ///   - scale: the divisor of the size: 1, 2, 4 or 8.
    /// - Returns: one entry per file, `nil` where Pillow fails; or `nil` without Pillow.
    /// - Throws: an error if Pillow cannot be started.
    public static func read(_ files: [URL], scale: Int) throws -> [PeerPlanes?]? {
        guard let python = PeerTool.python else { return nil }
        let script = SampleFiles.packageDirectory.appending(path: "Tests/Peers/jpeg_planes.py")
        let arguments = [script.path, String(scale)] + files.map(\.path)
        guard let output = try PeerTool.run(python, arguments) else { return nil }
        var planes: [PeerPlanes?] = []
        var offset = 0
        while let end = output[offset...].firstIndex(of: 0x0A) {
            let line = String(decoding: output[offset..<end], as: UTF8.self)
            let words = line.split(separator: " ")
            offset = end + 1
            guard words.count == 5, words[0] == "P7", let width = Int(words[1]),
                let height = Int(words[2]), let channelCount = Int(words[3])
            else {
                planes.append(nil)
                continue
            }
            let sampleCount = width * height * channelCount
            guard offset + sampleCount <= output.count else { return nil }
            planes.append(
                PeerPlanes(
                    width: width, height: height, channelCount: channelCount,
                    mode: String(words[4]),
                    samples: Array(output[offset..<offset + sampleCount])))
            offset += sampleCount
        }
        return planes.count == files.count ? planes : nil
    }
}
