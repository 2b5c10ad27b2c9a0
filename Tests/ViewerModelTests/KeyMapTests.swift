// SPDX-License-Identifier: Apache-2.0

import Testing
import ViewerModel

@Suite("The table of keys") struct KeyMapTests {
    @Test("has a key for each command") func complete() {
        let commands = Set(KeyMap().help.map(\.command))
        #expect(commands == Set(ViewerCommand.allCases))
    }

    @Test("lists each key once") func help() {
        let help = KeyMap().help
        let keys = help.flatMap(\.keys)
        #expect(Set(keys).count == keys.count)
        for key in keys { #expect(KeyMap()[key] != nil) }
    }

    @Test("is changed by a file") func file() throws {
        var map = KeyMap()
        try map.apply("# comment\n\n  Ctrl+d = trash \nDelete=none\r\n= = zoom-out\n")
        #expect(map["Ctrl+d"] == .trash)
        #expect(map["Delete"] == nil)
        #expect(map["="] == .zoomOut)
        #expect(map["Right"] == .next)
    }

    @Test("stays unchanged if a line is invalid, which the error names")
    func invalid() {
        var map = KeyMap()
        #expect(throws: KeyMap.ParseError.unknownCommand(2, name: "fly")) {
            try map.apply("a = trash\nb = fly")
        }
        #expect(map["a"] == nil)
        for line in ["a", "a =", "a b = next"] {
            #expect(throws: KeyMap.ParseError.malformedLine(1, text: line)) {
                try map.apply(line)
            }
        }
    }
}
