// SPDX-License-Identifier: Apache-2.0

public import EncodedImages

extension DecodeOptions {
    /// Options with which truncated files are rejected.
    public static var strict: DecodeOptions { DecodeOptions().strict }

    /// The same options, but truncated files are rejected.
    public var strict: DecodeOptions {
        var options = self
        options.acceptsTruncated = false
        return options
    }
}
