// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageTesting
import Testing

@Suite("A string that is compared by bytes") struct ComparedByBytesTests {
    private struct Key: Hashable, Codable {
        @ComparedByBytes var name: String
        var number = 0
    }

    @Test(
        "differs from canonically equivalent strings of other bytes",
        arguments: EquivalentNames.groups)
    func equivalent(group: [String]) {
        #expect(Set(group).count == 1, "the texts are equal to Swift")
        #expect(Set(group.map { Key(name: $0) }).count == group.count)
        #expect(Set(group.map { ComparedByBytes($0) }).count == group.count)
    }

    @Test("equals strings of the same bytes")
    func same() {
        let bytes = Array("house/e\u{301}.jpg".utf8)
        let copy = String(decoding: bytes, as: UTF8.self)
        #expect(Key(name: "house/e\u{301}.jpg") == Key(name: copy))
        #expect(
            Key(name: "house/e\u{301}.jpg").hashValue == Key(name: copy + "").hashValue)
        #expect(ComparedByBytes("") == ComparedByBytes(""))
        #expect(ComparedByBytes("a") != ComparedByBytes("ab"))
    }

    @Test("is encoded like a plain string")
    func coding() throws {
        let json = #"{"name":"é","number":0}"#
        let key = try JSONDecoder().decode(Key.self, from: Data(json.utf8))
        #expect(key == Key(name: "\u{E9}"))
        let again = try JSONDecoder().decode(Key.self, from: try JSONEncoder().encode(key))
        #expect(again == key)
    }
}
