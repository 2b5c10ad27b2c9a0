// SPDX-License-Identifier: Apache-2.0
//! Draws a landscape and what each effect, blend mode and template makes of it: the images of
//! Documentation/effects.md. Usage: EffectImages FOLDER

// snippet.show
import Drawing
import Effects
// snippet.hide
import EncodedImages
import Foundation
import ImageCodecs
// snippet.show
import Pixels

/// Returns the colour of a hexadecimal number, as in CSS.
func color(_ value: UInt32) -> SRGBColor {
    func component(_ shift: UInt32) -> Double { Double(value >> shift & 255) / 255 }
    return SRGBColor(red: component(16), green: component(8), blue: component(0))
}

let size = PixelSize(width: 240, height: 150)
let landscape = try ImageRenderer(size: size).image { context in
    let sky = Gradient([color(0x1b4b8a), color(0xf7b267)])
    context.fill(.linear(sky, from: Point(0, 0), to: Point(0, 105)))
    let sun = SampleRegion(x: 148, y: 48, width: 44, height: 44)
    context.fill(.circle(in: sun), .color(color(0xfff1c1)))
    let hills: [(Double, Double, UInt32)] = [
        (70, 118, 0x6d597a), (104, 88, 0x355070), (128, 140, 0x1d3441),
    ]
    for (left, right, value) in hills {
        var hill = Path()
        hill.move(to: Point(0, left))
        hill.curve(to: Point(240, right), Point(70, left - 40), Point(150, right + 30))
        hill.line(to: Point(240, 150))
        hill.line(to: Point(0, 150))
        context.fill(hill, .color(color(value)))
    }
}
// snippet.hide

let folder = CommandLine.arguments.dropFirst().first ?? "Documentation/images/effects"
try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
var options = EncodeOptions()
options.quality = 75
let webP = try ImageDestination(format: "webp", codecs: builtInCodecs, options: options)

func write(_ image: PixelBuffer?, _ name: String) throws {
    guard let image else { return }
    try webP.write(image, to: "\(folder)/\(name).webp")
}

let orange = color(0xff9f1c)
let navy = color(0x0b1d51)
let white = SRGBColor.white

/// Swaps red and blue: a lookup table of two entries a side.
let cubeText = """
    LUT_3D_SIZE 2
    0 0 0
    0 0 1
    0 1 0
    0 1 1
    1 0 0
    1 0 1
    1 1 0
    1 1 1
    """
let cube = try ColorCube(Array(cubeText.utf8).span, identity: "swapped")

let ring = try ImageRenderer(size: PixelSize(width: 48, height: 48)).image { context in
    let box = SampleRegion(x: 4, y: 4, width: 40, height: 40)
    context.stroke(.circle(in: box), .color(white), Stroke(width: 6))
}
/// The landscape with borders.
let margins = Padding(top: 12, right: 30, bottom: 12, left: 30, color: white)
let bordered = Effect.pad(margins).applied(to: landscape) ?? landscape

// snippet.show

let effects: [(name: String, effect: Effect)] = [
    ("none", .none),
    ("exposure", .exposure(1)),
    ("brightness", .brightness(0.2)),
    ("contrast", .contrast(1.6)),
    ("saturation", .saturation(0.2)),
    ("gamma", .gamma(0.6)),
    (
        "color-matrix",
        .colorMatrix(ColorMatrix(red: [0, 1, 0], green: [1, 0, 0], blue: [0, 0, 1]))
    ),
    ("inverted", .inverted),
    ("duotone", .duotone(dark: navy, light: orange)),
    ("tint", .tint(orange, amount: 0.4)),
    ("color-cube", .colorCube(cube)),
    ("blur", .blur(sigma: 5)),
    ("sharpen", .sharpen(sigma: 2, amount: 2)),
    ("pixelate", .pixelate(10)),
    ("overlay", .overlay(Overlay(ring, identity: "ring", placement: .anchored(x: 0.95, y: 0.9)))),
    ("tiled", .overlay(Overlay(ring, identity: "ring", placement: .tiled(gapX: 8), opacity: 0.5))),
    ("pad", .pad(margins)),
    ("extend", .extend(Extension(to: PixelSize(width: 240, height: 200), fill: .blurredImage))),
]
// snippet.hide

for (name, effect) in effects { try write(effect.applied(to: landscape), name) }
try write(Effect.trim(Trimming(threshold: 10)).applied(to: bordered), "trim")

// snippet.show

let source = try ImageRenderer(size: size).image { context in
    let colors = [0xe63946, 0xffd166, 0x06d6a0, 0x118ab2, 0x7b2cbf].map { color($0) }
    context.fill(.linear(Gradient(colors), from: Point(0, 0), to: Point(240, 0)))
}
for mode in BlendMode.allCases {
    let blended = Effect.overlay(Overlay(source, identity: "colours", opacity: 0.8, mode: mode))
    let image = blended.applied(to: landscape)
    // snippet.hide
    try write(image, "mode-\(mode.rawValue)")
    // snippet.show
}
// snippet.hide

let circles = try [(70.0, UInt32(0xe63946)), (110, 0x118ab2)].map { x, value in
    try ImageRenderer(size: size).image { context in
        let box = SampleRegion(x: x - 20, y: 25, width: 100, height: 100)
        context.fill(.circle(in: box), .color(color(value)))
    }
}
for composite in CompositeOperator.allCases {
    let effect = Effect.overlay(Overlay(circles[0], identity: "red", composite: composite))
    try write(effect.applied(to: circles[1]), "operator-\(composite.rawValue)")
}

// The background is visible where the image is transparent.
try write(Effect.background(navy).applied(to: circles[1]), "background")

let fonts = try FontCollection()
let values: [String: [String: String]] = [
    "article": [
        "title": "Every effect runs in one pass over the rows", "photo": "photo",
        "author": "Ada Lovelace", "label": "Images",
    ],
    "plain": ["title": "A title on a colour", "subtitle": "and a line below"],
    "quote": [
        "quote": "The purpose of computing is insight, not numbers.", "author": "Richard Hamming",
    ],
    "product": ["name": "Field camera", "price": "€ 480", "photo": "photo", "badge": "New"],
    "event": ["title": "An evening of slides", "month": "May", "day": "14", "place": "Weimar"],
    "avatar": ["name": "Grace Hopper"],
]
for (name, values) in values {
    let file = "Documentation/templates/\(name).json"
    let template = try Template(parsing: try String(contentsOfFile: file, encoding: .utf8))
    let image = try template.image(values, fonts: fonts) { _ in landscape }
    let small = ResizeGeometry(
        of: image.size, into: PixelSize(width: 360, height: 240), mode: .fit)
    try write(image.resized(small.region, to: small.size), "template-\(name)")
}
