// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import ImageCodecs
import ImageLoading
import ImageTesting
import Pixels
import Testing

@testable import ImageServer

@Suite("Cropping by content and by a focal point") struct SmartCropTests {
    /// A grey image with a detailed square.
    private func image(_ size: PixelSize, detailAt place: (x: Int, y: Int)) -> PixelBuffer {
        var image = MutablePixelBuffer(
            size: size, format: .rgb8, colorProfile: .sRGB)
        let detail = TestImage.noise(PixelSize(width: 40, height: 40), .rgb8)
        image.copy(detail, to: place)
        return image.finish()
    }

    @Test("keeps the detailed part", arguments: [(5, 10), (130, 20), (250, 60)])
    func detail(_ x: Int, _ y: Int) throws {
        let size = PixelSize(width: 300, height: 120)
        let part = SmartCrop(to: PixelSize(width: 120, height: 120))
            .part(of: image(size, detailAt: (x, y)))
        #expect(part.x <= x && x + 40 <= part.x + part.width, "\(part)")
        #expect(part.size == PixelSize(width: 120, height: 120))
    }

    @Test("keeps the detailed part of planes, from an even place", arguments: [7, 130, 251])
    func planes(_ x: Int) throws {
        let size = PixelSize(width: 301, height: 121)
        var image = MutablePixelBuffer(size: size, format: .yCbCr420, colorProfile: .sRGB)
        let detail = TestImage.noise(PixelSize(width: 40, height: 40), .gray8)
        for y in 0..<40 {
            image.withMutableRow(50 + y) { $0.copy(detail.row(y), at: x) }
        }
        for (plane, y) in (1...2).flatMap({ plane in (0..<61).map { (plane, $0) } }) {
            image.withMutableRow(y, plane: plane) { row in
                for index in row.indices { row[index] = UInt8(index) }
            }
        }
        let planes = image.finish()
        let crop = SmartCrop(to: PixelSize(width: 121, height: 121))
        let part = crop.part(of: planes)
        #expect(part.x <= x && x + 40 <= part.x + part.width, "\(part)")
        #expect(part.x % 2 == 0 && part.y == 0)
        let result = try crop.process(planes, CancellationFlag())
        #expect(result.format == .yCbCr420 && result.size == part.size)
        for (plane, start) in [(0, part.x), (1, part.x / 2), (2, part.x / 2)] {
            let sides = PixelFormat.yCbCr420.planeSize(plane, of: part.size)
            for y in 0..<sides.height {
                for column in 0..<sides.width {
                    #expect(
                        result.row(y, plane: plane)[column]
                            == planes.row(y, plane: plane)[start + column])
                }
            }
        }
    }

    @Test("keeps the middle of an even image") func even() {
        let even = MutablePixelBuffer(
            size: PixelSize(width: 300, height: 100), format: .rgb8, colorProfile: .sRGB
        ).finish()
        #expect(SmartCrop(to: PixelSize(width: 100, height: 100)).part(of: even).x == 100)
    }

    @Test("is requested by URLs, with a crop and a turn too") func addresses() async throws {
        let gallery = try TestGallery { $0.imgproxy = ImgproxyKeys() }
        let original = image(PixelSize(width: 300, height: 120), detailAt: (250, 60))
        try gallery.file(
            "1.png", try ImageDestination(format: "png", codecs: builtInCodecs).encode(original))
        for (address, size) in [
            ("/_/rs:fill:60:60/g:sm/plain/1.png@png", PixelSize(width: 60, height: 60)),
            ("/60x60,fill,smart,png/1.png", PixelSize(width: 60, height: 60)),
            ("/_/c:60:60:sm/plain/1.png@png", PixelSize(width: 60, height: 60)),
            ("/_/c:60:60/g:sm/w:30/rot:90/plain/1.png@png", PixelSize(width: 30, height: 30)),
            ("/_/c:60:60:sm/s:120:120:1/plain/1.png@png", PixelSize(width: 120, height: 120)),
            ("/_/t:1/rs:fill:20:30/g:sm/plain/1.png@png", PixelSize(width: 20, height: 30)),
        ] {
            let answer = try await gallery.get(address)
            #expect(answer.status == 200, "\(answer.text.prefix(200))")
            let result = try ImageSource(EncodedBytes(answer.body), codecs: builtInCodecs).image()
            #expect(result.size == size, "\(address)")
            var bright = 0
            for y in 0..<result.size.height {
                let row = result.row(y)
                for index in row.indices where row[index] > 128 { bright += 1 }
            }
            // An even part has no bright pixels.
            #expect(bright > 100, "\(address): \(bright)")
        }
    }

    @Test("keeps a face that XMP describes instead of the detailed part") func faces() async throws
    {
        let gallery = try TestGallery()
        let original = image(PixelSize(width: 300, height: 120), detailAt: (250, 60))
        func bright(_ regions: String) async throws -> Int {
            var options = EncodeOptions()
            options.metadata.xmp = Array(
                """
                <x:xmpmeta xmlns:x='adobe:ns:meta/'>
                <rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>
                <rdf:Description xmlns:mwg-rs='http://www.metadataworkinggroup.com/schemas/regions/'
                 xmlns:stArea='http://ns.adobe.com/xmp/sType/Area#'>
                <mwg-rs:Regions><mwg-rs:RegionList><rdf:Bag>\(regions)</rdf:Bag>
                </mwg-rs:RegionList></mwg-rs:Regions></rdf:Description></rdf:RDF></x:xmpmeta>
                """.utf8)
            let destination = try ImageDestination(
                format: "png", codecs: builtInCodecs, options: options)
            let name = "\(regions.utf8.count).png"
            try gallery.file(name, try destination.encode(original))
            var count = 0
            for address in ["/60x60,fill,smart,png/", "/30x30,fill,smart,crop60x60,png/"] {
                let answer = try await gallery.get(address + name)
                #expect(answer.status == 200, "\(answer.text.prefix(200))")
                let result = try ImageSource(EncodedBytes(answer.body), codecs: builtInCodecs)
                    .image()
                for y in 0..<result.size.height {
                    let row = result.row(y)
                    for index in row.indices where row[index] > 128 { count += 1 }
                }
            }
            return count
        }
        #expect(try await bright("") > 200)
        let face = """
            <rdf:li><rdf:Description mwg-rs:Type='Face'><mwg-rs:Area stArea:x='0.1' stArea:y='0.5'
            stArea:w='0.1' stArea:h='0.25'/></rdf:Description></rdf:li>
            """
        #expect(try await bright(face) == 0)
    }

    @Test("with parts to keep contains as many as fit, and the whole face with its margin")
    func parts() {
        let size = PixelSize(width: 300, height: 120)
        let detailed = image(size, detailAt: (250, 60))
        let face = SampleRegion(x: 0.05, y: 0.4, width: 0.1, height: 0.2)
        let crop = SmartCrop(to: PixelSize(width: 120, height: 120), keeping: [face])
        let part = crop.part(of: detailed)
        #expect(part.x <= 15 && part.x + part.width >= 45, "\(part)")
        // Two faces that fit count more than one on the other side.
        let pair = [0.6, 0.8].map { SampleRegion(x: $0, y: 0.4, width: 0.05, height: 0.2) }
        let both = SmartCrop(to: PixelSize(width: 120, height: 120), keeping: [face] + pair)
            .part(of: detailed)
        #expect(both.x <= 180 && both.x + both.width >= 255, "\(both)")
        #expect(crop.identity != SmartCrop(to: crop.size).identity)
        #expect(SmartCrop(to: crop.size).identity == "smart(120x120)")
    }

    @Test("keeps every focal point inside, of 100,000") func focalPoints() throws {
        var random = SeededRandom(seed: 7)
        for _ in 0..<100_000 {
            let original = PixelSize(
                width: .random(in: 1...5000, using: &random),
                height: .random(in: 1...5000, using: &random))
            let focus = (
                x: Double.random(in: 0...1, using: &random),
                y: Double.random(in: 0...1, using: &random)
            )
            var options = RenditionOptions()
            options.width = .random(in: 1...2000, using: &random)
            options.height = .random(in: 1...2000, using: &random)
            options.mode = .fill
            options.allowsEnlarging = .random(using: &random)
            options.gravity = Gravity(focusX: focus.x, focusY: focus.y)
            if Bool.random(using: &random) {
                options.region = .crop(
                    RenditionOptions.Crop(
                        width: .random(in: 0...1, using: &random),
                        height: .random(in: 0...1, using: &random),
                        gravity: Gravity(focusX: focus.x, focusY: focus.y)))
                // The focal point of the crop is that of the whole image.
                options.mode = .stretch
            }
            let geometry = try options.decodeOptions(original: original, maximumSide: 8192)
                .geometry(of: original)
            let region = geometry.region
            // Within half a pixel of the original: a crop has whole pixels.
            let (x, y) = (focus.x * Double(original.width), focus.y * Double(original.height))
            let isInside =
                region.x - 0.5 <= x && x <= region.x + region.width + 0.5
                && region.y - 0.5 <= y && y <= region.y + region.height + 0.5
            let isWithin =
                region.x >= -1e-6 && region.y >= -1e-6
                && region.x + region.width <= Double(original.width) + 1e-6
                && region.y + region.height <= Double(original.height) + 1e-6
            guard isInside, isWithin else {
                Issue.record("\(original), \(options.text): \(region)")
                return
            }
        }
    }
}
