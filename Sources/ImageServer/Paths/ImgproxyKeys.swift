// SPDX-License-Identifier: Apache-2.0

/// The keys that sign paths in the syntax of imgproxy.
public struct ImgproxyKeys: Sendable, Hashable {
    /// The accepted keys; without any, signatures are not verified.
    public var keys: [[UInt8]]
    /// The bytes before the path in the signed message.
    public var salt: [UInt8]

    /// Creates a set of keys with a salt.
    public init(keys: [[UInt8]] = [], salt: [UInt8] = []) {
        self.keys = keys
        self.salt = salt
    }
}
