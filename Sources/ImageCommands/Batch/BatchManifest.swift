// SPDX-License-Identifier: Apache-2.0

internal import Drawing
internal import Glibc

/// A source of a batch.
struct BatchSource: Hashable, Sendable {
    /// The path of the file.
    let path: String
    /// The path of its outputs below their folders, without an extension.
    let key: String

    /// Creates a source; fails for a key that would leave the folder.
    ///
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - key: the key; `nil` for the path without its extension and without `/` at its start.
    /// - Throws: ``FileFailure`` with the key.
    init(_ path: String, key: String? = nil) throws(FileFailure) {
        self.path = path
        let key = key ?? splitExtension(path).name
        let parts = key.utf8.drop { $0 == UInt8(ascii: "/") }
            .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        guard !parts.isEmpty, parts.allSatisfy({ !["", ".", ".."].contains($0) }) else {
            throw FileFailure(path, "invalid key: \(key); it must be a relative path without ..")
        }
        self.key = parts.joined(separator: "/")
    }
}

/// Reads the sources of a manifest one by one: a path, a JSON object or a row of CSV on each line.
///
/// JSON objects and the columns of CSV have the names `source` and, optionally, `key`. A first line
/// with a column `source` makes it CSV.
struct BatchManifest {
    private var lines: LineReader
    private var columns: (source: Int, key: Int?)?
    private var isFirst = true

    /// Opens a manifest.
    ///
    /// - Parameter path: the path, or `-` for standard input.
    /// - Throws: ``FileFailure``.
    init(_ path: String) throws(FileFailure) { lines = try LineReader(path) }

    /// Returns the number of lines of a file, for the progress; 0 for standard input and pipes, which can
    /// be read only once.
    static func lineCount(_ path: String) -> Int {
        var status = stat()
        guard path != "-", unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            var lines = try? LineReader(path)
        else { return 0 }
        var count = 0
        while lines.next() != nil { count += 1 }
        return count
    }

    /// Returns the next source, or why its line has none; `nil` at the end.
    mutating func next() -> Result<BatchSource, FileFailure>? {
        while let line = lines.next() {
            let number = lines.number
            switch line {
            case .failure(let failure): return .failure(failure)
            case .success(let text):
                let wasFirst = isFirst
                isFirst = false
                if wasFirst, readColumns(text) { continue }
                if text.isEmpty { continue }
                return Result { () throws(FileFailure) in
                    do throws(FileFailure) {
                        return try source(in: text)
                    } catch {
                        throw FileFailure(
                            error.path, "\(lines.name), line \(number): \(error.reason)")
                    }
                }
            }
        }
        return nil
    }

    private mutating func readColumns(_ text: String) -> Bool {
        let names = Self.fields(text)
        guard let source = names?.firstIndex(of: "source") else { return false }
        columns = (source, names?.firstIndex(of: "key"))
        return true
    }

    private func source(in line: String) throws(FileFailure) -> BatchSource {
        if let columns {
            guard let fields = Self.fields(line), columns.source < fields.count else {
                throw FileFailure(line, "not a row of CSV with the column source")
            }
            let key = columns.key.flatMap { $0 < fields.count ? fields[$0] : nil }
            return try BatchSource(fields[columns.source], key: key == "" ? nil : key)
        }
        guard line.hasPrefix("{") else { return try BatchSource(line) }
        let (path, key) = try Self.members(line)
        return try BatchSource(path, key: key)
    }

    /// Returns the members `source` and `key` of a JSON object.
    private static func members(_ line: String) throws(FileFailure) -> (String, String?) {
        do throws(DrawingError) {
            guard case .object(let members) = try TemplateValue(parsing: line),
                case .string(let path) = members.first(where: { $0.key == "source" })?.value
            else { throw .invalid(reason: "a JSON object with the member source is expected") }
            guard case .string(let key) = members.first(where: { $0.key == "key" })?.value else {
                return (path, nil)
            }
            return (path, key)
        } catch {
            // The caller adds the number of the line in the manifest.
            let reason = "\(error)"
            throw FileFailure(
                line, reason.hasPrefix("line 1: ") ? String(reason.dropFirst(8)) : reason)
        }
    }

    /// Returns the fields of a row (RFC 4180); `nil` if a quoted field has no end.
    private static func fields(_ line: String) -> [String]? {
        var fields = [""]
        var isQuoted = false
        var characters = Array(line)[...]
        while let character = characters.popFirst() {
            switch character {
            case "\"" where isQuoted && characters.first == "\"":
                characters.removeFirst()
                fields[fields.count - 1].append(character)
            case "\"" where isQuoted || fields[fields.count - 1].isEmpty: isQuoted.toggle()
            case "," where !isQuoted: fields.append("")
            default: fields[fields.count - 1].append(character)
            }
        }
        return isQuoted ? nil : fields
    }
}

/// Reads the lines of a file or of standard input.
private struct LineReader {
    private static let maximumByteCount = 1 << 20

    let name: String
    private(set) var number = 0
    private let descriptor: Int32
    private var bytes: [UInt8] = []
    private var start = 0
    private var isAtEnd = false

    init(_ path: String) throws(FileFailure) {
        name = path == "-" ? "standard input" : path
        descriptor = path == "-" ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileFailure(path, lastSystemError()) }
    }

    /// Returns the next line without its end.
    mutating func next() -> Result<String, FileFailure>? {
        var searched = start
        while true {
            if let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { start = end + 1 }
                return line(start..<end)
            }
            searched = bytes.count
            if isAtEnd {
                guard start < bytes.count else { return nil }
                defer { start = bytes.count }
                return line(start..<bytes.count)
            }
            guard bytes.count - start <= Self.maximumByteCount else {
                isAtEnd = true
                bytes = []
                start = 0
                return .failure(
                    FileFailure(name, "line \(number + 1) is longer than 1 MiB; reading stops"))
            }
            bytes.removeFirst(start)
            searched -= start
            start = 0
            if let failure = fill() { return .failure(failure) }
        }
    }

    private mutating func line(_ range: Range<Int>) -> Result<String, FileFailure> {
        number += 1
        var range = range
        if range.count > 0, bytes[range.upperBound - 1] == UInt8(ascii: "\r") {
            range = range.lowerBound..<range.upperBound - 1
        }
        guard let text = String(validating: bytes[range], as: UTF8.self) else {
            return .failure(FileFailure(name, "line \(number) is not UTF-8"))
        }
        return .success(text)
    }

    private mutating func fill() -> FileFailure? {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes {
                unsafe read(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else {
                isAtEnd = true
                return FileFailure(name, lastSystemError())
            }
            if count == 0 {
                isAtEnd = true
                if descriptor != STDIN_FILENO { close(descriptor) }
            }
            bytes += chunk[..<count]
            return nil
        }
    }
}
