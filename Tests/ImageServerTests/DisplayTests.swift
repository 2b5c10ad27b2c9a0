// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Pixels
import Testing

@testable import ImageServer

@Suite("An image in a display format") struct DisplayTests {
    private func gallery(
        _ devices: [String: String] = [:], sizes: SizeLadder = .quarters
    ) throws -> TestGallery {
        let gallery = try TestGallery {
            $0.devices = devices
            $0.sizes = sizes
        }
        try gallery.image("1.png", PixelSize(width: 400, height: 300))
        return gallery
    }

    @Test(
        "has the requested size, or headers with its size",
        arguments: [
            ("33x33,fill", 33, 33), ("33x33", 33, 25), ("800x801,fill,up", 800, 801),
            ("800x800,fill", 300, 300), ("240x240,stretch", 240, 240), ("11x11@3x,fill", 33, 33),
        ])
    func size(segment: String, width: Int, height: Int) async throws {
        let gallery = try gallery()
        for format in ["rgb565", "rgb555"] {
            let answer = try await gallery.get("/\(segment),\(format)/1.png")
            #expect(answer.status == 200, "\(answer.text)")
            #expect(answer.headers[.contentType] == "application/octet-stream")
            #expect(answer.headers[named: "X-Result-Width"] == "\(width)")
            #expect(answer.headers[named: "X-Result-Height"] == "\(height)")
            #expect(answer.body.count == width * height * 2)
        }
        let bitmap = try await gallery.get("/\(segment),bmp565/1.png")
        #expect(bitmap.headers[.contentType] == "image/bmp")
        #expect(try bitmap.pixelSize() == PixelSize(width: width, height: height))
    }

    @Test("has only the sizes of an explicit ladder") func chosenSizes() async throws {
        let gallery = try gallery(sizes: SizeLadder(steps: [40, 80]))
        let answer = try await gallery.get("/33x33,fill,rgb565/1.png")
        #expect(answer.headers[named: "X-Result-Width"] == "40")
        #expect(answer.body.count == 40 * 40 * 2)
    }

    @Test("gets the options of its device where the path has none") func device() async throws {
        let gallery = try gallery(["watch": "rgb565,fill,q60", "eink": "gray,bmp565"])
        let pairs = [
            ("40x40,device=watch", "40x40,rgb565,fill,q60"),
            ("40x40,device=watch,fit", "40x40,rgb565,fit,q60"),
            ("40x40,ssim0.9,device=watch,webp", "40x40,webp,fill,ssim0.9"),
            ("40x40,left,device=eink", "40x40,left,gray,bmp565"),
        ]
        for (segment, meaning) in pairs {
            let answer = try await gallery.get("/\(segment)/1.png")
            let expected = try await gallery.get("/\(meaning)/1.png")
            #expect(answer.status == 200, "\(answer.text)")
            #expect(answer.body == expected.body, "\(segment)")
            #expect(answer.headers == expected.headers, "\(segment)")
        }
        let usual = try await gallery.get("/40x40/1.png")
        #expect(usual.headers[.contentType] == "image/jpeg")
        #expect(usual.headers[named: "X-Result-Width"] == nil)
    }

    @Test(
        "is rejected for an unknown device by name",
        arguments: ["device=tv", "device=", "device=watch,device=watch", "device=Watch"])
    func unknownDevice(options: String) async throws {
        let gallery = try gallery(["watch": "rgb565"])
        let answer = try await gallery.get("/40x40,\(options)/1.png")
        #expect(answer.status == 400)
        #expect(answer.text.contains("device"))
    }

    @Test("A preset may name a device, which must be valid") func settings() throws {
        let gallery = try gallery(["watch": "rgb565,fill"])
        var configuration = gallery.configuration
        configuration.presets = ["small": "40x40,device=watch"]
        let preset = try #require(try configuration.presetOptions()["small"])
        #expect(preset.format == "rgb565")
        #expect(preset.mode == .fill)
        for options in ["rgb564", "", "40x40", "device=watch"] {
            configuration.devices["bad"] = options
            let error = #expect(throws: ServerError.self, "\(options)") {
                try configuration.check()
            }
            #expect(error?.description.hasPrefix("device bad: ") == true)
        }
        configuration.devices["bad"] = nil
        configuration.presets["wrong"] = "40x40,blurry"
        let error = #expect(throws: ServerError.self) { try configuration.check() }
        #expect(error?.description.hasPrefix("preset wrong: ") == true)
    }
}
