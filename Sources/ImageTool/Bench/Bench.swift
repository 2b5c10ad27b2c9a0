// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

struct Bench: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measures on this machine what choices cost.",
        subcommands: [BenchFormats.self, BenchScroll.self])
}
