// SPDX-License-Identifier: Apache-2.0

package import EncodedImages
package import HTTPCaching
internal import HTTPTypes
internal import ImageCommands
package import ImageLoading
internal import LoadScheduling
package import Pixels
package import Placeholders
internal import Synchronization

/// The images of a folder on a Calotype server: small ones are renditions that the server makes.
///
/// A lock: every operation on the facts is short and never awaits.
package final class ServedFolder: ImageFolder {
    /// What the list contains about an image.
    private struct Facts {
        let version: String
        let size: PixelSize?
        let placeholder: ThumbHash?
    }

    private struct State {
        var facts: [ComparedByBytes: Facts] = [:]
        var ladder: [Int] = []
    }

    /// The maximum number of images of a folder.
    package static let maximumImageCount = 1_000_000
    /// The maximum size of a page of the list in bytes.
    static let maximumPageByteCount = 16 << 20
    /// The number of images of a page, which is the largest that servers return.
    private static let pageCount = 5_000
    /// The side of renditions until the list has been received.
    private static let firstSides = [256, 1_024, 2_048]

    private let url: HTTPURL
    private let transport: any HTTPTransport
    private let state = Mutex(State())

    /// - Parameters:
    ///   - url: the URL of the folder; the gallery page of the server is that of the root.
    ///   - transport: sends requests to the server.
    package init(_ url: HTTPURL, transport: any HTTPTransport) {
        self.url = url
        self.transport = transport
    }

    package var kind: FolderKind { .server }

    package func names() -> AsyncThrowingStream<[String], any Error> {
        AsyncThrowingStream { stream in
            let task = Task { [self] in
                do throws(FileFailure) {
                    var offset: Int? = 0
                    while let start = offset {
                        let page = try await page(at: start)
                        guard page.next ?? .max > start, start <= Self.maximumImageCount else {
                            throw FileFailure(
                                url.description,
                                "the list has more than \(Self.maximumImageCount) images")
                        }
                        stream.yield(take(page))
                        offset = page.next
                    }
                    stream.finish()
                } catch {
                    stream.finish(throwing: error)
                }
            }
            stream.onTermination = { _ in task.cancel() }
        }
    }

    package func original(of name: String) -> ImageRequest.Source {
        source(path: "\(folderPath)\(name.percentEncoded)", of: name)
    }

    package func source(of name: String, filling side: Int, isStill: Bool) -> ImageRequest.Source {
        let ladder = state.withLock { $0.ladder }
        let steps = ladder.isEmpty ? Self.firstSides : ladder
        // The original is not larger than the box, or no rendition fills it.
        guard let step = steps.first(where: { $0 >= side }),
            pixelSize(of: name).map({ $0.largestSide > step }) ?? true
        else { return original(of: name) }
        let options = isStill ? ",still" : ""
        return source(
            path: "\(folderPath)\(step)x\(step)\(options)/\(name.percentEncoded)", of: name)
    }

    package func pixelSize(of name: String) -> PixelSize? {
        state.withLock { $0.facts[ComparedByBytes(name)]?.size }
    }

    package func placeholder(of name: String) -> ThumbHash? {
        state.withLock { $0.facts[ComparedByBytes(name)]?.placeholder }
    }

    package func bytes(
        of name: String, _ limits: DecodeLimits
    ) throws(CodecError) -> EncodedBytes? { nil }

    /// The path of the folder, with a slash at its end.
    private var folderPath: String {
        let path = url.path.prefix { $0 != "?" }
        return path.hasSuffix("/") ? String(path) : "\(path)/"
    }

    /// The server lets clients keep the response for the version that the list specifies.
    private func source(path: String, of name: String) -> ImageRequest.Source {
        let version = state.withLock { $0.facts[ComparedByBytes(name)]?.version }
        let query = version.map { "?v=\($0.percentEncoded)" } ?? ""
        // An absolute path has the origin of the folder, whose URL is valid.
        return .url((try? HTTPURL("\(path)\(query)", relativeTo: url)) ?? url)
    }

    // MARK: List

    private func page(at offset: Int) async throws(FileFailure) -> ServedPage {
        let path = "/-/listing\(folderPath)?offset=\(offset)&limit=\(Self.pageCount)"
        do throws(LoadError) {
            let body = try await body(of: HTTPURL(path, relativeTo: url))
            guard let page = ServedPage(json: body) else {
                throw .badResponse(
                    url: url.description, reason: "no folder of a Calotype server")
            }
            return page
        } catch .badStatus(_, let code) where code == 404 {
            throw FileFailure(url.description, "the server has no such folder")
        } catch .badStatus(_, let code) where code == 401 || code == 403 {
            throw FileFailure(url.description, "the server requires a password or a signature")
        } catch {
            let (path, reason) = (url.description, "\(error)")
            let parts = reason.split(separator: ": ", maxSplits: 1)
            throw FileFailure(
                path, reason.hasPrefix("http") && parts.count == 2 ? String(parts[1]) : reason)
        }
    }

    private func body(of page: HTTPURL) async throws(LoadError) -> [UInt8] {
        let response = try await transport.send(
            HTTPRequest(
                method: .get, scheme: page.scheme.rawValue, authority: page.authority,
                path: page.path, headerFields: [.accept: "application/json"]))
        guard response.head.status == .ok else {
            throw .badStatus(url: page.description, code: response.head.status.code)
        }
        var body: [UInt8] = []
        for try await part in response.body {
            guard body.count + part.count <= Self.maximumPageByteCount else {
                throw .badResponse(
                    url: page.description,
                    reason: "a page has more than \(Self.maximumPageByteCount) bytes")
            }
            body += part
        }
        return body
    }

    /// Keeps the facts of a page; returns its names.
    private func take(_ page: ServedPage) -> [String] {
        state.withLock { state in
            state.ladder = page.ladder.filter { 1...16_384 ~= $0 }.sorted()
            for image in page.images {
                let size = PixelSize(width: image.width, height: image.height)
                state.facts[ComparedByBytes(image.name)] = Facts(
                    version: image.version, size: size.isEmpty ? nil : size,
                    placeholder: image.placeholder.flatMap { try? ThumbHash(base64: $0) })
            }
        }
        return page.images.map(\.name)
    }
}
