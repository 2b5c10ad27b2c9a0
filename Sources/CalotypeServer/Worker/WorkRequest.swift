// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import ImageCommands

/// A request to a worker: one line of JSON, followed by ``byteCount`` bytes.
struct WorkRequest: Decodable, Sendable {
    /// An output and its file.
    struct Output: Decodable, Sendable {
        let name: String
        let options: String
        /// The path of the file; `nil` to return its bytes.
        let path: String?

        private enum CodingKeys: String, CodingKey, CaseIterable { case name, options, path }

        init(from decoder: any Decoder) throws {
            try decoder.refuseMembers(otherThan: CodingKeys.self)
            let members = try decoder.container(keyedBy: CodingKeys.self)
            name = try members.decode(String.self, forKey: .name)
            options = try members.decode(String.self, forKey: .options)
            path = try members.decodeIfPresent(String.self, forKey: .path)
        }
    }

    /// Identifies the response.
    let id: String
    /// A path or a URL; `nil` if only bytes are passed.
    let source: String?
    /// The number of bytes of the source that follow the line; `nil` if ``source`` is read.
    let byteCount: Int?
    /// Identifies the content of the source, such as its ETag.
    let version: String?
    let outputs: [Output]
    /// The time limit from the receipt of the request.
    let deadlineMilliseconds: Int?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case id, source, byteCount, version, outputs, deadlineMilliseconds
    }

    init(from decoder: any Decoder) throws {
        try decoder.refuseMembers(otherThan: CodingKeys.self)
        let members = try decoder.container(keyedBy: CodingKeys.self)
        id = try members.decode(String.self, forKey: .id)
        source = try members.decodeIfPresent(String.self, forKey: .source)
        byteCount = try members.decodeIfPresent(Int.self, forKey: .byteCount)
        version = try members.decodeIfPresent(String.self, forKey: .version)
        outputs = try members.decode([Output].self, forKey: .outputs)
        deadlineMilliseconds = try members.decodeIfPresent(Int.self, forKey: .deadlineMilliseconds)
    }

    /// Parses a line.
    ///
    /// - Throws: ``WorkError``. Where the next line starts is then unknown.
    init(parsing line: ArraySlice<UInt8>) throws(WorkError) {
        do {
            self = try JSONDecoder().decode(WorkRequest.self, from: Data(line))
        } catch let DecodingError.keyNotFound(key, _) {
            throw WorkError(.request, "the member \(key.stringValue) is missing")
        } catch let DecodingError.typeMismatch(_, context),
            let DecodingError.valueNotFound(_, context),
            let DecodingError.dataCorrupted(context)
        {
            let path = context.codingPath.map(\.stringValue).joined(separator: ".")
            throw WorkError(
                .request,
                path.isEmpty ? context.debugDescription : "\(path): \(context.debugDescription)")
        } catch {
            throw WorkError(.request, "not a request: \(error)")
        }
        guard byteCount ?? 0 >= 0 else {
            throw WorkError(.request, "invalid byteCount: \(byteCount ?? 0)")
        }
    }

    /// Returns the outputs of the request with their paths.
    ///
    /// - Throws: ``WorkError``.
    func plan() throws(WorkError) -> [(output: BatchOutput, path: String?)] {
        guard source != nil || byteCount != nil else {
            throw WorkError(.request, "neither source nor byteCount")
        }
        guard !outputs.isEmpty, Set(outputs.map(\.name)).count == outputs.count else {
            throw WorkError(.request, "outputs must have at least one element, and no name twice")
        }
        if let milliseconds = deadlineMilliseconds, !(1...86_400_000 ~= milliseconds) {
            throw WorkError(
                .request, "invalid deadlineMilliseconds: \(milliseconds); use 1 to 86400000")
        }
        var plan: [(BatchOutput, String?)] = []
        for output in outputs {
            do {
                plan.append(
                    (try BatchOutput(name: output.name, options: output.options), output.path))
            } catch {
                throw WorkError(.request, "\(error)")
            }
            guard output.path?.utf8.contains(0) != true, output.path != "" else {
                throw WorkError(.request, "output \(output.name): invalid path")
            }
        }
        return plan
    }
}

/// The name of any member.
private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension Decoder {
    fileprivate func refuseMembers<Key: CodingKey & CaseIterable>(otherThan keys: Key.Type) throws {
        let known = Set(keys.allCases.map(\.stringValue))
        for key in try container(keyedBy: AnyKey.self).allKeys
        where !known.contains(key.stringValue) {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: codingPath, debugDescription: "unknown member: \(key.stringValue)"))
        }
    }
}
