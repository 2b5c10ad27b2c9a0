// SPDX-License-Identifier: Apache-2.0

#if Viewer
internal import CGTK
internal import EncodedImages
internal import ImageCommands
internal import ImageLoading
internal import Pixels
internal import ViewerModel

/// Prints one image at a time.
@MainActor
final class ImagePrinter {
    /// The box of an image: a page of A4 at 300 dots per inch, in either orientation.
    private static let side = 3508

    private let loads: ImageLoads
    private var printing: Task<Void, Never>?

    init(_ loads: ImageLoads) { self.loads = loads }

    /// Loads an image in the size of a page, in sRGB, and lets the user print it.
    ///
    /// - Parameters:
    ///   - name: the name of the image.
    ///   - fail: receives the error if the image cannot be loaded.
    func print(_ name: String, fail: @escaping @MainActor (FileFailure) -> Void) {
        stop()
        var request = ImageRequest(
            loads.folder.original(of: name), options: DecodeOptions(maximumSide: Self.side))
        request.storeUse = []
        request.memoryUse = []
        printing = Task { [loads, request] in
            do throws(FileFailure) {
                let image = try await loads.image(request).image.converted(to: .rgb8)
                guard !Task.isCancelled else { return }
                unsafe image.bytes.withUnsafeBufferPointer { bytes in
                    unsafe calotype_print(
                        bytes.baseAddress, Int32(image.size.width), Int32(image.size.height),
                        image.bytesPerRow, name)
                }
            } catch {
                fail(error)
            }
        }
    }

    func stop() { printing?.cancel() }
}
#endif
