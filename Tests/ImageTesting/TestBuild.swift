// SPDX-License-Identifier: Apache-2.0

/// The build settings of the tests.
public enum TestBuild {
    /// Whether the modules that compute pixels are optimized, as `make test` builds them.
    ///
    /// Tests of many pixels or many files take minutes otherwise.
    public static let isOptimized: Bool = {
        var isOptimized = true
        // Not evaluated in an optimized module, and this one is optimized where the others are.
        assert(
            {
                isOptimized = false
                return true
            }())
        return isOptimized
    }()
}
