// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Pixels

/// Independent programs whose results are compared with those of this package.
public enum PeerTool {
    /// A Python that has Pillow, NumPy and pypng, named by the environment variable
    /// `CALOTYPE_PYTHON`; `make test` sets it.
    public static var python: URL? {
        ProcessInfo.processInfo.environment["CALOTYPE_PYTHON"].map { URL(filePath: $0) }
    }

    /// libjpeg-turbo's decoder, djpeg, if installed.
    public static var djpeg: URL? { installed("djpeg") }

    /// libjpeg-turbo's encoder, cjpeg, if installed.
    public static var cjpeg: URL? { installed("cjpeg") }

    /// libjpeg-turbo's lossless transcoder, jpegtran, if installed.
    public static var jpegtran: URL? { installed("jpegtran") }

    /// ImageMagick, if installed.
    public static var convert: URL? { installed("convert") }

    private static func installed(_ name: String) -> URL? {
        let path = "/usr/bin/\(name)"
        return FileManager.default.isExecutableFile(atPath: path) ? URL(filePath: path) : nil
    }

    /// Runs a program and returns its standard output, or `nil` if it failed.
    public static func run(_ program: URL, _ arguments: [String]) throws -> [UInt8]? {
        let process = Process()
        let output = Pipe()
        process.executableURL = program
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        // Idle NumPy threads spin, and Pillow allocates memory for each image anew. Together
        // they take half the time of the comparisons.
        process.environment = ProcessInfo.processInfo.environment
            .merging(["OPENBLAS_NUM_THREADS": "1", "PILLOW_BLOCKS_MAX": "4096"]) { $1 }
        try process.run()
        let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return process.terminationStatus == 0 ? Array(bytes) : nil
    }

    /// Runs a script of `Tests/Peers` with ``python`` and returns the image that it wrote.
    public static func picture(_ script: String, _ arguments: [String]) throws -> PixelBuffer? {
        guard let python else { return nil }
        let path = SampleFiles.packageDirectory.appending(path: "Tests/Peers/\(script)").path
        return try run(python, [path] + arguments).flatMap(picture)
    }

    /// Returns the structural similarity of two image files, measured by `Tests/Peers/ssim.py`.
    public static func similarity(
        _ file: URL, _ other: URL
    ) throws -> (blocks: Double, gaussian: Double) {
        let path = SampleFiles.packageDirectory.appending(path: "Tests/Peers/ssim.py").path
        let output = try python.flatMap { try run($0, [path, file.path, other.path]) }
        let numbers = String(decoding: output ?? [], as: UTF8.self)
            .split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        return numbers.count == 2 ? (numbers[0], numbers[1]) : (.nan, .nan)
    }

    /// Decodes a binary PNM or PAM image: grey, RGB, or RGBA, which is then premultiplied.
    public static func picture(_ file: [UInt8]) -> PixelBuffer? {
        var fields: [Int] = []
        var offset = 2
        guard
            file.starts(with: Array("P5".utf8)) || file.starts(with: Array("P6".utf8))
                || file.starts(with: Array("P7".utf8))
        else { return nil }
        while fields.count < 3, offset < file.count {
            let word = file[offset...].prefix { !($0 == 0x20 || $0 == 0x0A) }
            if let number = Int(String(decoding: word, as: UTF8.self)) { fields.append(number) }
            offset += word.count + 1
        }
        guard fields.count == 3 else { return nil }
        // The scripts write "P7", width, height and the channel count instead of the maximum value.
        let channelCount = file[1] == 0x35 ? 1 : file[1] == 0x36 ? 3 : fields[2]
        let formats: [Int: PixelFormat] = [1: .gray8, 3: .rgb8, 4: .rgba8]
        guard let format = formats[channelCount] else { return nil }
        let size = PixelSize(width: fields[0], height: fields[1])
        var pixels = Array(file[offset...])
        guard pixels.count == size.area * channelCount else { return nil }
        if format == .rgba8 {
            var span = pixels.mutableSpan
            PremultipliedAlpha.multiply(&span)
        }
        return PixelBuffer(packed: pixels, size, format)
    }
}
