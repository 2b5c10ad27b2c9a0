// SPDX-License-Identifier: Apache-2.0

extension MemoryCache {
    /// What is left of the bytes that are there on ``MemoryPressureLevel/warning``.
    public static let shareAtWarning = 0.5
    /// What is left of the bytes that are there when the program goes to the background.
    public static let shareInBackground = 0.25

    /// Lets go of half of what is there on a warning, and of everything when memory is critical.
    ///
    /// What others hold is still found. A return to normal changes nothing.
    public func respond(to level: MemoryPressureLevel) {
        switch level {
        case .normal: break
        case .warning: trim(toShare: Self.shareAtWarning)
        case .critical: trim(toShare: 0)
        }
    }

    /// Lets go of three quarters of what is there, because the program is no longer looked at.
    public func enterBackground() { trim(toShare: Self.shareInBackground) }
}
