// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser

/// The `texture` command.
package struct TextureCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "texture", _superCommandName: "calotype",
        abstract: "Encodes, decodes and compares textures for graphics processors.",
        discussion: """
            A texture stays compressed in the memory of the graphics processor: PVRTC takes 4 \
            or 2 bits per pixel. All other commands read textures too: calotype info, thumbnail, convert \
            and serve open PVR, KTX and DDS files like images.

            EXAMPLES
              calotype texture encode photo.png photo.pvr --fit stretch
              calotype texture info photo.pvr
              calotype texture compare photo.png photo.pvr --difference difference.png
              calotype texture decode photo.pvr level2.png --level 2

            Scripts for PVRTexToolCL and texturetool go on working with a link to calotype of that \
            name; calotype PVRTexToolCL -help and calotype texturetool -h list their options.
            """,
        subcommands: [
            TextureEncode.self, TextureDecode.self, TextureInfo.self, TextureCompare.self,
        ])

    package init() {}
}
