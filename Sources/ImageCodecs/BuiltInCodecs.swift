// SPDX-License-Identifier: Apache-2.0

public import EncodedImages

/// Every codec that was built in, one line each; the order means nothing.
public let builtInCodecs = CodecSet(codecs, colorConverter: colorConverter)

private var codecs: [any ImageCodec] {
    var codecs: [any ImageCodec] = []
    #if JPEG
        codecs.append(JPEGCodec())
    #endif
    #if PNG
        codecs.append(PNGCodec())
    #endif
    return codecs
}

private var colorConverter: (any ColorConverter)? {
    #if ICC
        ICCColorConverter()
    #else
        nil
    #endif
}
