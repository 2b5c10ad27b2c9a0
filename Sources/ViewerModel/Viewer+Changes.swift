// SPDX-License-Identifier: Apache-2.0

internal import ImageCommands

/// Changes of files.
extension Viewer {
    mutating func trash() -> [Effect] {
        guard let name = list.current else { return [] }
        return attempt { viewer throws(FileFailure) in
            try viewer.editor.trash(viewer.path(name))
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
            guard let path = try viewer.editor.undo() else { return .nothingToUndo }
            let (folder, name) = splitFolder(path)
            viewer.forgetRating(name)
            // A copy that was removed, or a sidecar.
            guard folder == viewer.folder, !name.hasSuffix(".xmp") else { return .isRestored(name) }
            viewer.list.merge([name])
            viewer.updateLayout()
            if let index = viewer.list.index(of: name) { viewer.select(index) }
            viewer.placement = nil
            return .isRestored(name)
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
        var count = 0
        for name in names {
            do throws(FileFailure) {
                try editor.trash(path(name))
            } catch {
                return [.failure("\(error)")]
            }
            remove(name)
            count += 1
        }
        return [.message(.areInTrash(count: count))]
    }
}
