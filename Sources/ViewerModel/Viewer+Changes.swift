// SPDX-License-Identifier: Apache-2.0

internal import ImageCommands

/// Changes of files.
extension Viewer {
    mutating func trash() -> [Effect] {
        guard let name = list.current else { return [] }
        return attempt { viewer throws(FileFailure) in
            try viewer.editor.trash([viewer.path(name)])
            viewer.remove(name)
            return .isInTrash(name)
        }
    }

    mutating func move(into folder: String) -> [Effect] {
        guard let name = list.current else { return [] }
        return attempt { viewer throws(FileFailure) in
            try viewer.editor.move(viewer.path(name), into: viewer.path(folder))
            viewer.remove(name)
            return .isMoved(name, folder: folder)
        }
    }

    mutating func copy(into folder: String) -> [Effect] {
        guard let name = list.current else { return [] }
        return attempt { viewer throws(FileFailure) in
            try viewer.editor.copy(viewer.path(name), into: viewer.path(folder))
            return .isCopied(name, folder: folder)
        }
    }

    /// Renames the current image.
    ///
    /// - Parameter newName: the name that the user entered.
    /// - Returns: what the window does in addition to drawing.
    package mutating func rename(to newName: String) -> [Effect] {
        guard let name = list.current, !newName.utf8.elementsEqual(name.utf8) else { return [] }
        guard kind == .files else { return [.message(.isReadOnly(kind))] }
        guard isFileName(newName) else {
            return [.message(.isNoName(newName))]
        }
        return attempt { viewer throws(FileFailure) in
            try viewer.editor.rename(viewer.path(name), to: viewer.path(newName))
            viewer.list.rename(name, to: newName)
            for name in [name, newName] { viewer.forgetRating(name) }
            viewer.placement = nil
            viewer.updateLayout()
            return .isRenamed(name, to: newName)
        }
    }

    mutating func turn(clockwise: Bool) -> [Effect] {
        guard let name = list.current else { return [] }
        return attempt { viewer throws(FileFailure) in
            try viewer.editor.turn(viewer.path(name), clockwise: clockwise)
            viewer.placement = nil
            return .isTurned(name)
        }
    }

    mutating func rate(_ rating: Int) -> [Effect] {
        guard let name = list.current, let index = list.currentIndex else { return [] }
        return attempt { viewer throws(FileFailure) in
            try viewer.editor.rate(viewer.path(name), rating)
            viewer.forgetRating(name)
            // Culling continues with the next image.
            if viewer.mode == .single, viewer.comparedCount == 1 { viewer.select(index + 1) }
            return .isRated(name, rating)
        }
    }

    mutating func undo() -> [Effect] {
        attempt { viewer throws(FileFailure) in
            guard let paths = try viewer.editor.undo() else { return .nothingToUndo }
            // Without sidecars, unless one was changed alone.
            let images = paths.filter { !$0.hasSuffix(".xmp") }
            let changed = images.isEmpty ? paths : images
            let restored = changed.filter(viewer.editor.exists)
            for path in paths { viewer.forgetRating(splitFolder(path).file) }
            // A copy that was removed is in another folder.
            let files = images.map { (path: $0, parts: splitFolder($0)) }
                .filter { $0.parts.folder == viewer.folder }
            for file in files where !restored.contains(file.path) { viewer.remove(file.parts.file) }
            let names = files.filter { restored.contains($0.path) }.map(\.parts.file)
            if let first = names.first {
                viewer.list.merge(names)
                viewer.updateLayout()
                if let index = viewer.list.index(of: first) { viewer.select(index) }
                viewer.placement = nil
            }
            return restored.count > 1
                ? .areRestored(count: restored.count)
                : .isRestored(splitFolder(restored.first ?? changed[0]).file)
        }
    }

    private mutating func attempt(
        _ change: (inout Viewer) throws(FileFailure) -> ViewerText
    ) -> [Effect] {
        do throws(FileFailure) {
            return [.message(try change(&self))]
        } catch {
            return [.failure("\(error)")]
        }
    }

    // MARK: Review

    /// Lists the rejected images.
    mutating func startReview() -> [Effect] {
        let rejected = (0..<list.count).map { list[$0] }.filter { rating($0) == -1 }
        guard !rejected.isEmpty else { return [.message(.nothingRejected)] }
        review = rejected
        return []
    }

    /// Performs a command while the rejected images are listed; `nil` if it is performed as usual, which
    /// closes the list.
    mutating func performInReview(_ command: ViewerCommand) -> [Effect]? {
        let rejected = review ?? []
        review = nil
        switch command {
        case .open: return trash(rejected)
        case .leave, .review: return []
        default: return nil
        }
    }

    private mutating func trash(_ names: [String]) -> [Effect] {
        attempt { viewer throws(FileFailure) in
            try viewer.editor.trash(names.map(viewer.path))
            for name in names { viewer.remove(name) }
            return .areInTrash(count: names.count)
        }
    }
}
