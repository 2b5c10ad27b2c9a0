// SPDX-License-Identifier: Apache-2.0

#if Viewer
internal import CGTK
internal import Dispatch
internal import EncodedImages
#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif
internal import ImageCommands
internal import ImageLoading
internal import Pixels
internal import ViewerModel

/// The window: it passes events to the model, loads the images that the model shows, and draws.
@MainActor
final class ViewerWindow {
    /// A cell of the grid while it is visible.
    struct Cell {
        var texture: Texture?
        var failure: String?
        var load: Task<Void, Never>?
    }

    var viewer: Viewer
    var cells: [ComparedByBytes: Cell] = [:]
    var current = CurrentImage()
    let loads: ImageLoads
    let keyMap: KeyMap
    var message: String?
    private var lastFrame: Double?
    private var typed = ""
    private var typedAt = 0.0
    private var listing: Task<Void, Never>?
    private let watch: FolderWatch?
    private var watchSource: (any DispatchSourceRead)?

    init(folder: String, first: String?) {
        let home = environmentValue("HOME") ?? "/"
        let data = environmentValue("XDG_DATA_HOME") ?? "\(home)/.local/share"
        let cache = environmentValue("XDG_CACHE_HOME") ?? "\(home)/.cache"
        loads = ImageLoads(cacheFolder: "\(cache)/calotype")
        viewer = Viewer(
            folder: folder, first: first, editor: FolderEditor(trashFolder: "\(data)/Trash"))
        var map = KeyMap()
        let configuration = environmentValue("XDG_CONFIG_HOME") ?? "\(home)/.config"
        message = Self.apply("\(configuration)/calotype/keys", to: &map)
        keyMap = map
        watch = FolderWatch(folder)
    }

    /// Opens the window and returns when it is closed; `false` if there is no display.
    func run() -> Bool {
        defer {
            listing?.cancel()
            watchSource?.cancel()
            loads.close()
        }
        loadCurrent()
        followFolder()
        listing = Task { [weak self, folder = viewer.folder] in
            // Merging many names would delay the first frame with the image, whose load starts again
            // when the window gets its size.
            for _ in 0..<4 where self?.current.fitted == nil { await self?.current.load?.value }
            for await names in imageNames(in: folder) {
                guard let self else { return }
                self.viewer.add(names)
                self.change()
            }
        }
        var events = unsafe calotype_window_events()
        unsafe events.context = Unmanaged.passUnretained(self).toOpaque()
        unsafe setHandlers(&events)
        return unsafe calotype_window_run(&events, title, 1280, 800)
    }

    /// Shows what other programs change in the folder.
    private func followFolder() {
        guard let watch else { return }
        let source = DispatchSource.makeReadSource(
            fileDescriptor: watch.descriptor, queue: .main)
        source.setEventHandler { [weak self] in
            MainActor.assumeIsolated { self?.take(watch.changes()) }
        }
        source.activate()
        watchSource = source
    }

    private func take(_ changes: FolderWatch.Changes) {
        let extensions = imageExtensions
        let written = changes.written.filter { isImageName($0, extensions) }
        for name in changes.removed { viewer.remove(name) }
        // The pixels of a file that was written again are out of date.
        for name in written {
            cells[ComparedByBytes(name)]?.load?.cancel()
            cells[ComparedByBytes(name)] = nil
            if current.name?.utf8.elementsEqual(name.utf8) == true {
                current.stop()
                current = CurrentImage()
            }
        }
        if !written.isEmpty { viewer.add(written) }
        change()
    }

    /// Loads what has become visible, and draws.
    func change() {
        if viewer.mode == .single { loadCurrent() }
        unsafe calotype_window_set_title(title)
        calotype_window_redraw()
    }

    /// Draws a frame; returns whether another follows.
    func draw(at seconds: Double, _ size: PixelSize) -> Bool {
        if viewer.view != size {
            viewer.resize(to: size)
            loadCurrent()
        }
        viewer.motion.advance(by: min(0.1, seconds - (lastFrame ?? seconds)))
        let isMoving = viewer.mode == .grid && viewer.motion.isMoving
        lastFrame = isMoving ? seconds : nil
        drawContent()
        return isMoving
    }

    func pressKey(_ name: String) -> Bool {
        guard let command = keyMap[name] else { return false }
        message = nil
        for effect in viewer.perform(command) {
            switch effect {
            case .close: calotype_window_close()
            case .fullScreen(let isFull): calotype_window_set_full_screen(isFull)
            case .message(let text): message = text
            }
        }
        change()
        return true
    }

    /// Selects the image whose name starts with the typed text; a pause starts a new text.
    func type(_ character: Unicode.Scalar, at seconds: Double) {
        if seconds - typedAt > 1.5 { typed = "" }
        typedAt = seconds
        typed.unicodeScalars.append(character)
        if let index = viewer.list.index(startingWith: typed) { viewer.select(index) }
        message = typed
        change()
    }

    func scroll(dx: Double, dy: Double, x: Double, y: Double, hasControl: Bool) {
        if viewer.mode == .grid {
            viewer.motion.scroll(by: dy * Double(viewer.grid.side) / 2)
        } else if hasControl {
            viewer.place { $0.pan(byX: -dx * 100, y: -dy * 100) }
        } else {
            viewer.place { $0.zoom(to: $0.scale * pow(1.2, -dy), atX: x, y: y) }
        }
        change()
    }

    func press(_ count: Int, x: Double, y: Double) {
        if viewer.mode == .grid {
            guard let index = viewer.grid.cell(atX: x, y: y, offset: viewer.motion.offset) else {
                return
            }
            if count == 2 { viewer.open(index) } else { viewer.select(index) }
        } else if count == 2 {
            viewer.place { placement in
                if placement.isFitted {
                    placement.zoom(to: 1, atX: x, y: y)
                } else {
                    placement.fit()
                }
            }
        }
        change()
    }

    func drag(dx: Double, dy: Double) {
        if viewer.mode == .grid {
            viewer.motion.drag(by: -dy)
        } else {
            viewer.place { $0.pan(byX: dx, y: dy) }
        }
        change()
    }

    func pinch(_ factor: Double, x: Double, y: Double) {
        guard viewer.mode == .single else { return }
        viewer.place { $0.zoom(to: $0.scale * factor, atX: x, y: y) }
        change()
    }

    private var title: String {
        guard let name = viewer.list.current, let index = viewer.list.currentIndex else {
            return viewer.folder
        }
        return "\(name) – \(index + 1) of \(viewer.list.count)"
    }

    /// Changes the keys by a file, if it exists; returns a message if it is invalid.
    private static func apply(_ path: String, to map: inout KeyMap) -> String? {
        guard let bytes = try? EncodedBytes(reading: path, first: 1 << 20) else { return nil }
        let text = bytes.withBytes { $0.text(at: 0, byteCount: $0.count) }
        do throws(KeyMap.ParseError) {
            try map.apply(text)
            return nil
        } catch {
            return "\(path): \(error)"
        }
    }
}

/// Returns the value of an environment variable; `nil` if it is empty.
private func environmentValue(_ name: String) -> String? {
    guard let value = unsafe getenv(name).map({ unsafe String(cString: $0) }), !value.isEmpty else {
        return nil
    }
    return value
}
#endif
