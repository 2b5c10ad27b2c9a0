// SPDX-License-Identifier: Apache-2.0

public import EncodedImages

/// Which picture: of which original, what was asked of its decoder, and what was done with it then.
public struct ImageKey: Hashable, Sendable {
    public var original: OriginalIdentity
    public var options: DecodeOptions
    /// The identities of the processors, the first first.
    public var processors: [String]

    public init(
        original: OriginalIdentity, options: DecodeOptions = DecodeOptions(),
        processors: [String] = []
    ) {
        self.original = original
        self.options = options
        self.processors = processors
    }

    /// What a request asks for of an original.
    init(_ request: ImageRequest, of original: OriginalIdentity) {
        self.init(
            original: original, options: request.options,
            processors: request.processors.map(\.identity))
    }

    /// The same picture as those ask for it who take no planes of luma and colour differences.
    var withoutPlanes: ImageKey {
        var key = self
        key.options.acceptsYCbCr = false
        return key
    }
}
