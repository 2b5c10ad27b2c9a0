// SPDX-License-Identifier: Apache-2.0

internal import Drawing
internal import EncodedImages

/// The templates of cards that URLs may request, by their names.
public struct CardTemplates: Sendable {
    /// A template as it was read, and as it was parsed.
    struct Entry: Sendable {
        let text: String
        let template: Template
    }

    /// The folder, from which fixed images in templates have their relative paths.
    let directory: String
    let entries: [String: Entry]

    /// Reads all templates of a folder, `NAME.json`, except for the schema `schema.json`.
    ///
    /// - Parameter directory: the path of the folder.
    /// - Throws: ``ServerError/invalidTemplate(path:reason:)`` for the first that is not valid, or
    ///   ``ServerError/notAFolder(path:)``.
    public init(directory: String) throws(ServerError) {
        var entries: [String: Entry] = [:]
        for name in try Self.names(directory) {
            let path = "\(directory)/\(name).json"
            let text = try Self.text(path)
            do throws(DrawingError) {
                entries[name] = Entry(text: text, template: try Template(parsing: text))
            } catch {
                throw .invalidTemplate(path: path, reason: "\(error)")
            }
        }
        self.init(directory: directory, entries: entries)
    }

    init(directory: String, entries: [String: Entry]) {
        self.directory = directory
        self.entries = entries
    }

    private static func names(_ directory: String) throws(ServerError) -> [String] {
        var names: [String] = []
        let isReadable = FolderEntry.forEach(in: directory) { entry in
            guard entry.name.hasSuffix(".json"), entry.name != "schema.json" else { return }
            names.append(String(entry.name.dropLast(".json".count)))
        }
        guard isReadable else { throw .notAFolder(path: directory) }
        return names.sorted()
    }

    private static func text(_ path: String) throws(ServerError) -> String {
        var limits = DecodeLimits()
        limits.maximumByteCount = Template.maximumByteCount
        do throws(CodecError) {
            let bytes = try EncodedBytes(reading: path, limits: limits)
            let text = bytes.withBytes { span in
                String(validating: span.indices.map { span[$0] }, as: UTF8.self)
            }
            guard let text else { throw .malformed(reason: "not UTF-8", offset: 0) }
            return text
        } catch {
            throw .invalidTemplate(path: path, reason: "\(error)")
        }
    }
}
