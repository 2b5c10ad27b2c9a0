// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Pixels

/// Independent programs that our results are compared with.
public enum PeerTool {
    /// A Python that has Pillow, NumPy and pypng, named by the environment variable
    /// `CALOTYPE_PYTHON`; `make test` sets it.
    public static var python: URL? {
        ProcessInfo.processInfo.environment["CALOTYPE_PYTHON"].map { URL(filePath: $0) }
    }

    /// libjpeg-turbo's own decoder, where it is installed.
    public static var djpeg: URL? { installed("djpeg") }

    /// libjpeg-turbo's own encoder, where it is installed.
    public static var cjpeg: URL? { installed("cjpeg") }

    /// libjpeg-turbo's tool that codes the coefficients of a file anew, where it is installed.
    public static var jpegtran: URL? { installed("jpegtran") }

    /// ImageMagick, where it is installed.
    public static var convert: URL? { installed("convert") }

    /// Chromium, where it is installed and ``python`` can drive it.
    public static var chromium: URL? { python == nil ? nil : installed("chromium") }

    private static func installed(_ name: String) -> URL? {
        let path = "/usr/bin/\(name)"
        return FileManager.default.isExecutableFile(atPath: path) ? URL(filePath: path) : nil
    }

    private static let processes = PeerProcesses()

    /// Runs a program to its end and returns what it wrote; `nil` if it failed.
    ///
    /// Scripts of `Tests/Peers` share processes that have imported NumPy and Pillow.
    public static func run(_ program: URL, _ arguments: [String]) throws -> [UInt8]? {
        // Idle threads of NumPy spin, and Pillow allocates the memory of each image from the system:
        // together half of the time of the comparisons.
        let environment = ProcessInfo.processInfo.environment
            .merging(["OPENBLAS_NUM_THREADS": "1", "PILLOW_BLOCKS_MAX": "4096"]) { $1 }
        if program == python, arguments.first?.hasPrefix(PeerProcesses.script("")) == true {
            return try processes.run(program, arguments, environment)
        }
        let process = Process()
        let output = Pipe()
        process.executableURL = program
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.environment = environment
        try process.run()
        let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return process.terminationStatus == 0 ? Array(bytes) : nil
    }

    /// Runs a script of `Tests/Peers` and returns what it wrote; `nil` if it failed.
    public static func run(
        _ python: URL, script: String, _ arguments: [String]
    ) throws -> [UInt8]? {
        try run(python, [PeerProcesses.script(script)] + arguments)
    }

    /// Runs a script of `Tests/Peers` with ``python`` and returns the image that it wrote.
    public static func image(_ script: String, _ arguments: [String]) throws -> PixelBuffer? {
        guard let python else { return nil }
        return try run(python, script: script, arguments).flatMap(image)
    }

    /// Returns what ``chromium`` displays in a window of `size` pixels, as RGB; `nil` if it failed.
    ///
    /// `page` is the body of the page; while `document.body.dataset.state` is `loading`, it is not
    /// complete. It loads each of the RGB images as `NAME.png`.
    public static func screenshot(
        _ page: String, _ images: [String: PixelBuffer], _ size: PixelSize
    ) throws -> PixelBuffer? {
        guard let python, let chromium else { return nil }
        return try withTemporaryFolder { folder in
            for (name, image) in images {
                let header = "P6 \(image.size.width) \(image.size.height) 255\n"
                try Data(Array(header.utf8) + image.packedBytes)
                    .write(to: folder.appending(path: "\(name).ppm"))
            }
            let style = "<meta charset=utf-8><style>body { margin: 0 }</style>"
            try Data("<!doctype html>\(style)<body>\(page)".utf8)
                .write(to: folder.appending(path: "index.html"))
            let arguments = [chromium.path, folder.path, "\(size.width)", "\(size.height)"]
            return try run(python, script: "chromium.py", arguments).flatMap { image($0) }
        }
    }

    /// Returns the similarity of two image files, as measured by `Tests/Peers/ssim.py`.
    public static func similarity(
        _ file: URL, _ other: URL
    ) throws -> (blocks: Double, gaussian: Double) {
        let output = try python.flatMap {
            try run($0, script: "ssim.py", [file.path, other.path])
        }
        let numbers = String(decoding: output ?? [], as: UTF8.self)
            .split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        return numbers.count == 2 ? (numbers[0], numbers[1]) : (.nan, .nan)
    }

    /// Reads a binary PNM or PAM image: grey, RGB, or RGBA, which is then premultiplied.
    public static func image(_ file: [UInt8]) -> PixelBuffer? {
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
        // Our scripts write "P7", width, height and channels where PNM has the largest value.
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
