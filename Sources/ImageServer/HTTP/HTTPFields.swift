// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes

extension HTTPFields {
    /// The value of a field that `HTTPField.Name` has no constant for.
    subscript(named name: String) -> String? {
        get { HTTPField.Name(name).flatMap { self[$0] } }
        set {
            if let name = HTTPField.Name(name) { self[name] = newValue }
        }
    }

    /// Returns a copy with one field set.
    func with(_ name: HTTPField.Name, _ value: String) -> HTTPFields {
        var fields = self
        fields[name] = value
        return fields
    }
}
