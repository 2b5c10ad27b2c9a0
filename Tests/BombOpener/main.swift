// SPDX-License-Identifier: Apache-2.0

// Does with a bomb what programs do, and writes how it was answered and how much memory that took.
//
// Arguments: the bomb's name, and the path of the file. Writes a line for each step that failed, and
// in the last the bytes by which the most memory grew. Without a path, writes the file; without a
// name, the names.

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting

func peakByteCount() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return (line?.filter(\.isNumber)).flatMap { Int($0) }.map { $0 << 10 } ?? 0
}

let arguments = CommandLine.arguments.dropFirst()
let bomb = Bomb.all.first { $0.name == arguments.first }
if let bomb, let path = arguments.dropFirst().first {
    let file = try EncodedBytes(mapping: path)
    let before = try peakByteCount()
    for (step, error) in bomb.answers(file, builtInCodecs) { print("\(step): \(error)") }
    print(try peakByteCount() - before)
} else if let bomb {
    FileHandle.standardOutput.write(Data(bomb.bytes()))
} else {
    for bomb in Bomb.all { print(bomb) }
}
