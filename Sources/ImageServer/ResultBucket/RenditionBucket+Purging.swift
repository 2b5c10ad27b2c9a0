// SPDX-License-Identifier: Apache-2.0

internal import CoreMetrics
internal import HTTPCaching
internal import HTTPTypes
public import LoadScheduling

extension RenditionBucket {
    /// The maximum number of bytes of a list of keys; S3 returns at most 1,000 keys of 1,024 bytes.
    private static let maximumListByteCount = 4 << 20

    /// Removes all objects of an original, within the time of a write; drops those that wait.
    public func removeAll(of name: String) async throws(LoadError) {
        let folder = BucketObject.folder(of: name)
        dropWaiting(of: name)
        do {
            try await withDeadline(limits.writeTimeout) { [self] in try await remove(folder) }
        } catch {
            // Not a reason for a pause: the permissions for purges are others.
            metrics.failures.increment()
            throw error as? LoadError ?? .timedOut(url: "\(url)/\(folder)")
        }
    }

    /// Removes all objects whose keys begin with `folder`.
    private func remove(_ folder: String) async throws(LoadError) {
        while true {
            let names = try await names(in: folder)
            for name in names {
                let response = try await transport.send(request(.delete, name))
                guard [200, 204, 404].contains(response.head.status.code) else {
                    throw failure(name, response.head.status)
                }
            }
            // A list has at most 1,000 keys.
            if names.count < 1_000 { return }
        }
    }

    /// Returns the names of up to 1,000 objects whose keys begin with `folder` (ListObjectsV2).
    private func names(in folder: String) async throws(LoadError) -> [String] {
        // The URL of the bucket, which the keys of its objects follow after a prefix.
        let path = url.path.split(separator: "/", maxSplits: 1)
        let bucket = path.first.map(String.init) ?? ""
        let prefix = path.count > 1 ? "\(path[1])/" : ""
        let query = "list-type=2&prefix=\((prefix + folder).percentEncoded)"
        let list = HTTPRequest(
            method: .get, scheme: url.scheme.rawValue, authority: url.authority,
            path: "/\(bucket)?\(query)")
        let response = try await transport.send(list)
        guard response.head.status.code == 200 else {
            throw failure("?\(query)", response.head.status)
        }
        var bytes: [UInt8] = []
        var iterator = response.body.makeAsyncIterator()
        while let part = try await iterator.next(isolation: nil) {
            bytes += part
            guard bytes.count <= Self.maximumListByteCount else {
                throw .badResponse(url: "\(url)", reason: "the list of keys is too long")
            }
        }
        // The keys consist of characters that XML does not escape; others are not those of renditions.
        return String(decoding: bytes, as: UTF8.self).split(separator: "<Key>").dropFirst()
            .compactMap { part in
                let key = part.prefix { $0 != "<" }
                guard key.hasPrefix(prefix + folder) else { return nil }
                return String(key.dropFirst(prefix.count))
            }
    }
}
