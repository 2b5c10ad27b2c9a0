// SPDX-License-Identifier: Apache-2.0

#if Viewer
/// Colours as 0xRRGGBBAA.
struct Palette {
    let background: UInt32
    let cell: UInt32
    let text: UInt32
    let selection: UInt32 = 0x4A90_E2FF
    let panel: UInt32
    let panelText: UInt32 = 0xE8E8_E8FF
    let light: UInt32 = 0x9999_99FF
    let dark: UInt32 = 0x6666_66FF

    /// The colours of a dark theme, and of images in any theme.
    static let dark = Palette(
        background: 0x1C1C_1EFF, cell: 0x2A2A_2DFF, text: 0xE8E8_E8FF, panel: 0x0000_00C8)
    /// The colours of a light theme.
    static let light = Palette(
        background: 0xF2F2_F4FF, cell: 0xE2E2_E5FF, text: 0x1C1C_1EFF, panel: 0x0000_00C8)
}
#endif
