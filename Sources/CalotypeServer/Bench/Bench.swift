// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

struct Bench: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Runs benchmarks on this machine.",
        subcommands: [BenchFormats.self, BenchScroll.self])
}
