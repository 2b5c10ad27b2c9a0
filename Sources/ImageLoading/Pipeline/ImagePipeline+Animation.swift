// SPDX-License-Identifier: Apache-2.0

public import LoadScheduling

extension ImagePipeline {
    /// Returns the frames of an animation, or a still image as the only frame.
    ///
    /// - Parameters:
    ///   - request: the original; its size and its processors apply to each frame.
    ///   - urgency: the priority, which may change; by default that of the request.
    ///   - countAhead: the number of frames to decode ahead of the one that is shown.
    /// - Returns: an animation that can be played any number of times; no frame is decoded yet.
    /// - Throws: `LoadError`.
    public func animation(
        for request: ImageRequest, urgency: PriorityHandle? = nil,
        countAhead: Int = ImageAnimation.usualCountAhead
    ) async throws(LoadError) -> ImageAnimation {
        precondition(countAhead >= 0, "countAhead is negative")
        let urgency = urgency ?? PriorityHandle.fixed(request.priority)
        let bytes = try await data(for: request, urgency: urgency)
        return try await ImageAnimation(
            opening: bytes, for: request, resources, urgency: urgency, countAhead: countAhead)
    }
}
