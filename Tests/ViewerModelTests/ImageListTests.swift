// SPDX-License-Identifier: Apache-2.0

import Testing
import ViewerModel

@Suite("The list of images") struct ImageListTests {
    private func names(_ list: ImageList) -> [String] { (0..<list.count).map { list[$0] } }

    @Test("is ordered by numbers and without case")
    func order() {
        var list = ImageList()
        list.merge([
            "b.jpg", "IMG_10.jpg", "IMG_9.jpg", "a.jpg", "a1.jpg", "A b.jpg", "img_009.jpg",
        ])
        #expect(
            names(list) == [
                "a.jpg", "A b.jpg", "a1.jpg", "b.jpg", "IMG_9.jpg", "img_009.jpg", "IMG_10.jpg",
            ])
    }

    @Test("keeps the opened image current while the folder is merged in, in any order")
    func streaming() {
        var random = SystemRandomNumberGenerator()
        let all = (0..<500).map { "p\($0).jpg" }
        for _ in 0..<20 {
            var list = ImageList(first: "p250.jpg")
            var rest = all.shuffled(using: &random)[...]
            while !rest.isEmpty {
                let batch = rest.prefix(Int.random(in: 1...90, using: &random))
                rest = rest.dropFirst(batch.count)
                list.merge(Array(batch))
                #expect(list.current == "p250.jpg")
            }
            #expect(names(list) == all)
            #expect(list.currentIndex == 250)
        }
    }

    @Test("selects a neighbour when the current image vanishes") func removal() {
        var list = ImageList(first: "b")
        list.merge(["a", "c"])
        list.remove("b")
        #expect(list.current == "c")
        list.remove("c")
        #expect(list.current == "a")
        list.remove("x")
        list.remove("a")
        #expect(list.current == nil)
        list.merge(["z"])
        #expect(list.current == "z")
    }

    @Test("keeps an image current under its new name") func renaming() {
        var list = ImageList(first: "b")
        list.merge(["a", "c"])
        list.rename("b", to: "d")
        #expect(list.current == "d")
        #expect(names(list) == ["a", "c", "d"])
        list.rename("a", to: "e")
        #expect(list.current == "d")
    }

    @Test("distinguishes names that are equal only canonically") func canonical() {
        var list = ImageList()
        list.merge(["\u{E9}", "e\u{301}"])
        #expect(list.count == 2)
        #expect(list.index(of: "\u{E9}") != list.index(of: "e\u{301}"))
    }

    @Test("finds a name by its start, around the end") func typing() {
        var list = ImageList()
        list.merge(["Apple", "banana", "blue"])
        list.select(2)
        #expect(list.index(startingWith: "B") == 2)
        #expect(list.index(startingWith: "ba") == 1)
        #expect(list.index(startingWith: "ap") == 0)
        #expect(list.index(startingWith: "x") == nil)
    }
}
