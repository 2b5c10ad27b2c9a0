// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import ImageCommands

/// The program `calotype-thumbnailer`.
@main
enum ThumbnailerProgram {
    static func main() { exit(Thumbnailer.run()) }
}
