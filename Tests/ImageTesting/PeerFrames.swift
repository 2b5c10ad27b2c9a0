// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Pixels

/// A frame of an animation as Pillow composites it.
public struct PeerFrame {
    public let image: PixelBuffer
    public let milliseconds: Int
    /// The loop count as the format encodes it; -1 if the file contains none.
    public let loop: Int
}

extension PeerTool {
    /// Decodes the first frames of an animation with Pillow, and resizes them if a size is given.
    ///
    /// - Returns: the frames, or `nil` if Pillow fails.
    public static func frames(
        of file: URL, atMost count: Int, resizedTo size: PixelSize? = nil
    ) throws -> [PeerFrame]? {
        guard let python else { return nil }
        let script = SampleFiles.packageDirectory.appending(path: "Tests/Peers/frames.py").path
        let sides = size.map { ["\($0.width)", "\($0.height)"] } ?? []
        guard let output = try run(python, [script, file.path, "\(count)"] + sides) else {
            return nil
        }
        var frames: [PeerFrame] = []
        var offset = 0
        while let end = output[offset...].firstIndex(of: 0x0A) {
            let fields = String(decoding: output[offset..<end], as: UTF8.self)
                .split(separator: " ").compactMap { Int($0) }
            guard fields.count == 4 else { return nil }
            let size = PixelSize(width: fields[0], height: fields[1])
            offset = end + 1 + size.area * 4
            guard offset <= output.count else { return nil }
            var pixels = Array(output[end + 1..<offset])
            var span = pixels.mutableSpan
            PremultipliedAlpha.multiply(&span)
            frames.append(
                PeerFrame(
                    image: PixelBuffer(packed: pixels, size, .rgba8), milliseconds: fields[2],
                    loop: fields[3]))
        }
        return frames
    }
}
