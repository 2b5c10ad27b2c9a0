// SPDX-License-Identifier: Apache-2.0

#if Viewer
internal import CGTK
internal import Glibc
internal import Pixels
internal import ViewerModel

extension calotype_window_events {
    /// The functions that pass the events of GTK, on the main thread, to a window, which must outlive them.
    @MainActor
    init(for receiver: ViewerWindow) {
        unsafe self.init()
        unsafe context = Unmanaged.passUnretained(receiver).toOpaque()
        unsafe setInput()
        unsafe draw = { context, seconds, width, height, scale in
            unsafe window(context) {
                $0.draw(
                    at: seconds, PixelSize(width: Int(width), height: Int(height)),
                    density: Int(scale))
            } ?? false
        }
        unsafe name = { context, name in
            let name = unsafe name.map { unsafe String(cString: $0) } ?? ""
            unsafe window(context) { $0.rename(to: name) }
        }
        unsafe open = { context, uri in
            let uri = unsafe uri.map { unsafe String(cString: $0) } ?? ""
            unsafe window(context) { $0.open(uri) }
        }
        unsafe wallpaper = { context, error in
            let error = unsafe error.map { unsafe String(cString: $0) }
            unsafe window(context) { $0.endWallpaper(error) }
        }
        unsafe dragged_uri = { context, x, y in
            let uri = unsafe window(context) { $0.draggedURI(x: x, y: y) } ?? nil
            return unsafe uri.flatMap { unsafe strdup($0) }
        }
        unsafe activate = { context, index in
            unsafe window(context) { $0.activate(Int(index)) }
        }
    }

    @unsafe private mutating func setInput() {
        unsafe key = { context, name in
            let name = unsafe name.map { unsafe String(cString: $0) } ?? ""
            return unsafe window(context) { $0.pressKey(name) } ?? false
        }
        unsafe text = { context, character in
            var now = timespec()
            unsafe clock_gettime(CLOCK_MONOTONIC, &now)
            let seconds = Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
            guard let scalar = Unicode.Scalar(character) else { return }
            unsafe window(context) { $0.type(scalar, at: seconds) }
        }
        unsafe scroll = { context, dx, dy, x, y, hasControl in
            unsafe window(context) {
                $0.point { pointer, viewer in
                    pointer.scroll(&viewer, dx: dx, dy: dy, x: x, y: y, hasControl: hasControl)
                }
            }
        }
        unsafe press = { context, count, x, y in
            unsafe window(context) { $0.press(Int(count), x: x, y: y) }
        }
        unsafe release = { context in unsafe window(context) { $0.release() } }
        unsafe swipe = { context, x, y in unsafe window(context) { $0.swipe(x: x, y: y) } }
        unsafe drag = { context, dx, dy in
            unsafe window(context) { $0.drag(dx: dx, dy: dy) }
        }
        unsafe pinch = { context, factor, x, y in
            unsafe window(context) {
                $0.point { pointer, viewer in pointer.pinch(&viewer, factor, x: x, y: y) }
            }
        }
    }
}

/// Calls `body` with the window of an event.
@unsafe @discardableResult
private func window<Result: Sendable>(
    _ context: UnsafeMutableRawPointer?, _ body: @MainActor (ViewerWindow) -> Result
) -> Result? {
    guard let context = unsafe context else { return nil }
    let window = unsafe Unmanaged<ViewerWindow>.fromOpaque(context).takeUnretainedValue()
    return MainActor.assumeIsolated { body(window) }
}
#endif
