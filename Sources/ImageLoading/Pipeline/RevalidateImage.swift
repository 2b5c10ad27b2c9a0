// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import HTTPCaching
internal import LoadScheduling

// A picture of the web that is out of date is shown at once, whether it is in memory or made from
// an old answer that the server lets be shown meanwhile. Then the web is asked, once for all who
// show it.

extension ImagePipeline {
    /// Whether the web has to be asked whether a picture in memory is still right.
    func isOutOfDate(_ image: LoadedImage, _ request: ImageRequest) -> Bool {
        guard case .url = request.source, request.webUse == .useProtocol, let web else {
            return false
        }
        return web.clock.date() >= image.storability.freshUntil
    }

    /// A picture as the web has it now: the same one if that has not changed.
    func revalidated(
        _ shown: LoadedImage, _ request: ImageRequest, _ urgency: LoadUrgency
    ) async throws(LoadError) -> LoadedImage {
        // It goes on without those who wait, because others are shown the old one meanwhile.
        try await sharedImages.value(
            for: revalidationKey(shown, request),
            SharedImages.Consumer(
                urgency: urgency, storeWish: { [policy] in policy.wish(request) },
                outlivesConsumers: true, failurePolicy: request.failurePolicy),
            revalidation(shown, request)
        ).loaded
    }

    /// Asks the web for a newer version of a picture, which is found the next time.
    func revalidateSoon(_ shown: LoadedImage, _ request: ImageRequest) {
        sharedImages.begin(
            revalidationKey(shown, request), keeping: policy.wish(request),
            revalidation(shown, request))
    }

    /// Asks the web for a newer version of an original, which is found the next time.
    func revalidateSoon(_ request: ImageRequest, _ original: OriginalIdentity) {
        var key = DataKey(request, of: original, salt: 0)
        key.acceptsStale = false
        sharedData.begin(key, keeping: policy.wish(request)) {
            [self, key] context throws(LoadError) in
            try await bytes(request, key, context)
        }
    }

    private func revalidationKey(
        _ shown: LoadedImage, _ request: ImageRequest
    ) -> SharedImageKey {
        SharedImageKey(
            image: ImageKey(request, of: shown.key.original), fields: request.fields,
            isRevalidation: true)
    }

    private func revalidation(
        _ shown: LoadedImage, _ request: ImageRequest
    ) -> SharedImages.Work {
        { [self] context throws(LoadError) in
            let original = shown.key.original
            var dataKey = DataKey(request, of: original, salt: 0)
            dataKey.acceptsStale = false
            let data = try await loadData(
                request, dataKey,
                SharedData.Consumer(
                    urgency: context.urgency, storeWish: context.storeWish,
                    failurePolicy: request.failurePolicy, story: context.story))
            var made = MadeImage(loaded: shown, isCurrent: true)
            if data.original == shown.original {
                shown.confirm(until: data.storability.freshUntil)
            } else {
                // Those of other sizes show what is no more, too.
                memory.removeAll(of: original, except: data.original)
                let known = remembered(ImageKey(request, of: original), request)
                made =
                    if let known { known } else {
                        try await newImage(data, request, original, context)
                    }
            }
            if request.memoryUse.contains(.writes) {
                memory.insert(made.loaded, charging: made.reservation)
            }
            if context.storeWish().contains(.value) { keep(made.loaded, request) }
            return made
        }
    }

    private func newImage(
        _ data: LoadedData, _ request: ImageRequest, _ original: OriginalIdentity,
        _ context: LoadContext<ImageUpdate>
    ) async throws(LoadError) -> MadeImage {
        var key = ImageKey(request, of: original)
        key.processors = []
        var made = try await decoded(data, request, key, context)
        for processor in request.processors {
            key.processors.append(processor.identity)
            made = try await processed(made, processor, key, context)
        }
        return made
    }
}
