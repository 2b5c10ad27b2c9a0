// SPDX-License-Identifier: Apache-2.0

public import EncodedImages

/// Identifies an image: its original, the options of the decoder, and the processors.
public struct ImageKey: Hashable, Sendable {
    /// The original that it is made from.
    public var original: OriginalIdentity
    /// The size and the form that the decoder makes.
    public var options: DecodeOptions
    /// The identities of the processors, the first first.
    public var processors: [String]

    /// The key of an image, by default the whole original without processors.
    public init(
        original: OriginalIdentity, options: DecodeOptions = DecodeOptions(),
        processors: [String] = []
    ) {
        self.original = original
        self.options = options
        self.processors = processors
    }

    /// The key of the image of a request.
    init(_ request: ImageRequest, of original: OriginalIdentity) {
        self.init(
            original: original, options: request.options,
            processors: request.processors.map(\.identity))
    }

    /// The key of the same image in RGB, for requests that do not accept planes of YCbCr.
    var withoutPlanes: ImageKey {
        var key = self
        key.options.acceptsYCbCr = false
        return key
    }
}
