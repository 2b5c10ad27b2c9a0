// SPDX-License-Identifier: Apache-2.0

internal import ImageCommands
internal import EncodedImages
internal import Foundation
internal import ImageLoading
internal import Synchronization

/// The `synchronous` design: reads and decodes at full size on the thread that draws.
final class SynchronousImages: ScrollImages {
    private let scene: ScrollScene
    private let ledger: ImageLedger
    private var images: [Int: LoadedImage] = [:]

    init(_ scene: ScrollScene, _ ledger: ImageLedger) {
        self.scene = scene
        self.ledger = ledger
    }

    func update(_ frame: ScrollFrame) {
        images = images.filter { frame.items.contains($0.key) }
        for item in frame.items where images[item] == nil {
            images[item] = ledger.decode(ImageRequest(path: scene.paths[item]))
        }
    }

    func image(for item: Int) -> ShownImage? {
        images[item].map { ShownImage(parts: [$0], lod: .exact) }
    }

    func end() async {}
}

/// The `tagged` design: reads files in the background and decodes at full size when an image is
/// first drawn, as toolkits with deferred decoding do.
///
/// A file is tagged with its item and dropped if that is no longer visible.
final class TaggedImages: ScrollImages {
    private final class Files: Sendable {
        private let files = Mutex<[(item: Int, bytes: EncodedBytes)]>([])

        func append(_ item: Int, _ bytes: EncodedBytes) {
            files.withLock { $0.append((item, bytes)) }
        }

        func take() -> [(item: Int, bytes: EncodedBytes)] {
            files.withLock { files in
                defer { files = [] }
                return files
            }
        }
    }

    private let scene: ScrollScene
    private let ledger: ImageLedger
    private let queue = OperationQueue()
    private let arrived = Files()
    private var requested: Set<Int> = []
    private var images: [Int: LoadedImage] = [:]

    init(_ scene: ScrollScene, _ ledger: ImageLedger) {
        self.scene = scene
        self.ledger = ledger
        queue.maxConcurrentOperationCount = processorCount()
    }

    func update(_ frame: ScrollFrame) {
        requested = requested.filter { frame.items.contains($0) }
        images = images.filter { frame.items.contains($0.key) }
        for (item, bytes) in arrived.take() where requested.contains(item) && images[item] == nil {
            let path = scene.paths[item]
            images[item] = ledger.decode(ImageRequest(path: path), path, bytes)
        }
        for item in frame.items where requested.insert(item).inserted {
            let path = scene.paths[item]
            queue.addOperation { [arrived, ledger] in
                if let bytes = ledger.read(path) { arrived.append(item, bytes) }
            }
        }
    }

    func image(for item: Int) -> ShownImage? {
        images[item].map { ShownImage(parts: [$0], lod: .exact) }
    }

    func end() async {
        queue.cancelAllOperations()
        while queue.operationCount > 0 { await Task.yield() }
    }
}
