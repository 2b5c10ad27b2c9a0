// SPDX-License-Identifier: Apache-2.0

internal import PictureCommands
internal import EncodedImages
internal import Foundation
internal import ImageLoading
internal import Synchronization

/// Reads and decodes whole pictures on the thread that draws when their cells come into view.
final class SynchronousPictures: ScrollPictures {
    private let scene: ScrollScene
    private let ledger: PictureLedger
    private var pictures: [Int: LoadedImage] = [:]

    init(_ scene: ScrollScene, _ ledger: PictureLedger) {
        self.scene = scene
        self.ledger = ledger
    }

    func update(_ frame: ScrollFrame) {
        pictures = pictures.filter { frame.items.contains($0.key) }
        for item in frame.items where pictures[item] == nil {
            pictures[item] = ledger.decode(ImageRequest(path: scene.paths[item]))
        }
    }

    func picture(for item: Int) -> ShownPicture? {
        pictures[item].map { ShownPicture(parts: [$0], lod: .exact) }
    }

    func end() async {}
}

/// Reads files in the background; a picture is decoded, whole, when it is drawn for the first time,
/// as by toolkits that put decoding off until then.
///
/// The tag of a file that was read is the number of its item: one whose cell has gone on to another
/// item is dropped.
final class TaggedPictures: ScrollPictures {
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
    private let ledger: PictureLedger
    private let queue = OperationQueue()
    private let arrived = Files()
    private var asked: Set<Int> = []
    private var pictures: [Int: LoadedImage] = [:]

    init(_ scene: ScrollScene, _ ledger: PictureLedger) {
        self.scene = scene
        self.ledger = ledger
        queue.maxConcurrentOperationCount = processorCount()
    }

    func update(_ frame: ScrollFrame) {
        asked = asked.filter { frame.items.contains($0) }
        pictures = pictures.filter { frame.items.contains($0.key) }
        for (item, bytes) in arrived.take() where asked.contains(item) && pictures[item] == nil {
            let path = scene.paths[item]
            pictures[item] = ledger.decode(ImageRequest(path: path), path, bytes)
        }
        for item in frame.items where asked.insert(item).inserted {
            let path = scene.paths[item]
            queue.addOperation { [arrived, ledger] in
                if let bytes = ledger.read(path) { arrived.append(item, bytes) }
            }
        }
    }

    func picture(for item: Int) -> ShownPicture? {
        pictures[item].map { ShownPicture(parts: [$0], lod: .exact) }
    }

    func end() async {
        queue.cancelAllOperations()
        while queue.operationCount > 0 { await Task.yield() }
    }
}
