// SPDX-License-Identifier: Apache-2.0

#if Viewer
internal import CGTK
#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif
internal import Pixels
internal import ViewerModel

extension ViewerWindow {
    /// Sets the functions that pass the events of GTK, on the main thread, to the window.
    @unsafe func setHandlers(_ events: inout calotype_window_events) {
        unsafe events.draw = { context, seconds, width, height, scale in
            unsafe window(context) {
                $0.draw(
                    at: seconds, PixelSize(width: Int(width), height: Int(height)),
                    density: Int(scale))
            } ?? false
        }
        unsafe events.key = { context, name in
            let name = unsafe name.map { unsafe String(cString: $0) } ?? ""
            return unsafe window(context) { $0.pressKey(name) } ?? false
        }
        unsafe events.text = { context, character in
            var now = timespec()
            unsafe clock_gettime(CLOCK_MONOTONIC, &now)
            let seconds = Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
            guard let scalar = Unicode.Scalar(character) else { return }
            unsafe window(context) { $0.type(scalar, at: seconds) }
        }
        unsafe events.name = { context, name in
            let name = unsafe name.map { unsafe String(cString: $0) } ?? ""
            unsafe window(context) { $0.perform($0.viewer.rename(to: name)) }
        }
        unsafe events.open = { context, uri in
            let uri = unsafe uri.map { unsafe String(cString: $0) } ?? ""
            unsafe window(context) { $0.open(uri) }
        }
        unsafe events.wallpaper = { context, error in
            let error = unsafe error.map { unsafe String(cString: $0) }
            unsafe window(context) { $0.endWallpaper(error) }
        }
        unsafe events.scroll = { context, dx, dy, x, y, hasControl in
            unsafe window(context) {
                $0.scroll(dx: dx, dy: dy, x: x, y: y, hasControl: hasControl)
            }
        }
        unsafe events.press = { context, count, x, y in
            unsafe window(context) { $0.press(Int(count), x: x, y: y) }
        }
        unsafe events.release = { context in unsafe window(context) { $0.release() } }
        unsafe events.swipe = { context, x, y in unsafe window(context) { $0.swipe(x: x, y: y) } }
        unsafe events.dragged_uri = { context, x, y in
            let uri = unsafe window(context) { $0.draggedURI(x: x, y: y) } ?? nil
            return unsafe uri.flatMap { unsafe strdup($0) }
        }
        unsafe events.activate = { context, index in
            unsafe window(context) { $0.activate(Int(index)) }
        }
        unsafe events.drag = { context, dx, dy in
            unsafe window(context) { $0.drag(dx: dx, dy: dy) }
        }
        unsafe events.pinch = { context, factor, x, y in
            unsafe window(context) { $0.pinch(factor, x: x, y: y) }
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
