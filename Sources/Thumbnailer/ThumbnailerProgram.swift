// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif
internal import ImageCommands

/// The program `calotype-thumbnailer`.
@main
enum ThumbnailerProgram {
    static func main() { exit(Thumbnailer.run()) }
}
