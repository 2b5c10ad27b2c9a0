// SPDX-License-Identifier: Apache-2.0

/// The version of the program; `scripts/release` sets it.
package let calotypeVersion = "0.2.0"
