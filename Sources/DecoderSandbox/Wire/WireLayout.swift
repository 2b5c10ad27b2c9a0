// SPDX-License-Identifier: Apache-2.0

/// The layout of all values in messages.
///
/// A host and a worker of different builds may use the same head and different fields; the host compares
/// the fingerprints of both.
enum WireLayout {
    /// A hash of the fields of all values, in their order.
    ///
    /// A constant, because computing it by reflection takes a tenth of the start of a worker; a test
    /// compares it with the fields.
    static let fingerprint = -2_861_111_705_169_185_826
}
