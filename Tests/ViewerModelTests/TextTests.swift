// SPDX-License-Identifier: Apache-2.0

import Pixels
import Testing
import ViewerModel

@Suite("The texts") struct TextTests {
    @Test("are in German for German locales, and else in English") func languages() {
        for locale in ["de", "de_DE.UTF-8", "de_AT@euro", "DE"] {
            #expect(ViewerLanguage(locale: locale) == .german)
        }
        for locale in ["C", "", "en_GB.UTF-8", "del", "fr_FR"] {
            #expect(ViewerLanguage(locale: locale) == .english)
        }
        #expect(ViewerText.nothingToUndo.text(in: .german) == "nichts rückgängig zu machen")
        #expect(ViewerText.nothingToUndo.text(in: .english) == "nothing to undo")
    }

    @Test("are written from right to left in some languages") func direction() {
        #expect(ViewerLanguage.isRightToLeft(locale: "ar_EG.UTF-8"))
        #expect(ViewerLanguage.isRightToLeft(locale: "he"))
        #expect(!ViewerLanguage.isRightToLeft(locale: "de_DE"))
        #expect(!ViewerLanguage.isRightToLeft(locale: "C"))
    }

    @Test("describe each command differently, in each language", arguments: ViewerLanguage.allCases)
    func commands(language: ViewerLanguage) {
        let texts = ViewerCommand.allCases.map { ViewerText.command($0).text(in: language) }
        #expect(texts.allSatisfy { !$0.isEmpty })
        #expect(Set(texts).count == texts.count)
    }

    @Test("contain the names and the numbers") func values() {
        let cell = ViewerText.cell(name: "a.jpg", number: 3, count: 500)
        #expect(cell.text(in: .english) == "a.jpg, 3 of 500")
        #expect(cell.text(in: .german) == "a.jpg, 3 von 500")
        let step = ViewerText.step(.decode, detail: "by libjpeg", duration: "3.5 ms")
        #expect(step.text(in: .english) == "decode: by libjpeg, 3.5 ms")
        #expect(ViewerText.isRated("a", -1).text(in: .german) == "a: verworfen")
    }
}

@Suite("The arguments") struct ViewerOptionsTests {
    @Test("name a file, a profile and a measurement") func valid() throws {
        let options = try #require(
            ViewerOptions(["--profile", "p.icc", "--measure", "--scroll", "2.5", "a.jpg"]))
        #expect(options.path == "a.jpg" && options.profile == "p.icc" && options.measures)
        #expect(options.scrollSeconds == 2.5)
        #expect(ViewerOptions([])?.path == ".")
        #expect(ViewerOptions([])?.isNewInstance == false)
        #expect(ViewerOptions(["--new-instance"])?.isNewInstance == true)
        #expect(ViewerOptions([])?.profile == nil)
        #expect(ViewerOptions(["--no-profile"])?.profile == "")
        #expect(ViewerOptions(["--", "-x"])?.path == "-x")
        #expect(ViewerOptions(["--size", "800x600"])?.size == PixelSize(width: 800, height: 600))
    }

    @Test(
        "are refused if they are unknown, incomplete or too many",
        arguments: [
            ["a", "b"], ["-x"], ["--profile"], ["--profile", ""], ["--scroll", "0"],
            ["--scroll", "nan"], ["--size", "800"], ["--size", "1x99999"], ["--scroll"],
            ["--", "a", "b"],
        ])
    func invalid(arguments: [String]) {
        #expect(ViewerOptions(arguments) == nil)
    }
}
