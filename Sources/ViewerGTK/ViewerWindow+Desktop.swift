// SPDX-License-Identifier: Apache-2.0

#if Viewer
internal import CGTK
internal import EncodedImages
internal import ImageCommands
internal import ImageLoading
internal import Pixels
internal import ViewerModel

/// Commands that pass an image to the desktop.
extension ViewerWindow {
    /// The box of an image that is printed: a page of A4 at 300 dots per inch, in either orientation.
    private static let printedSide = 3508

    /// Loads an image in the size of a page, in sRGB, and lets the user print it.
    func print(_ name: String) {
        printing?.cancel()
        var request = ImageRequest(
            loads.folder.original(of: name),
            options: DecodeOptions(maximumSide: Self.printedSide))
        request.storeUse = []
        request.memoryUse = []
        printing = Task { [weak self, loads, request] in
            do throws(FileFailure) {
                let image = try await loads.image(request).image.converted(to: .rgb8)
                guard !Task.isCancelled else { return }
                Self.print(image, name: name)
            } catch {
                self?.show(error)
            }
        }
    }

    private static func print(_ image: PixelBuffer, name: String) {
        unsafe image.bytes.withUnsafeBufferPointer { bytes in
            unsafe calotype_print(
                bytes.baseAddress, Int32(image.size.width), Int32(image.size.height),
                image.bytesPerRow, name)
        }
    }

    /// Displays a file or a folder that another process was started for.
    func open(_ uri: String) {
        do throws(FileFailure) {
            try open(OpenedPath(uri))
        } catch {
            show(error)
        }
    }

    /// Shows whether the desktop accepts the current image as the background.
    func endWallpaper(_ error: String?) {
        message = error ?? viewer.list.current.map { text(.isWallpaper($0)) }
        change()
    }

    /// Shows an error of the system.
    func show(_ error: FileFailure) {
        message = "\(error)"
        change()
    }
}
#endif
