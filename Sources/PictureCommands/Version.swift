// SPDX-License-Identifier: Apache-2.0

/// The version that is being worked towards or has been released, as in CHANGELOG.md.
package let calotypeVersion = "0.1.0"
