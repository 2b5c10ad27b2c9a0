// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import DecoderSandbox
internal import EncodedImages
internal import Foundation
internal import Glibc
internal import HTTPLoading
internal import ImageCodecs
internal import ImageCommands
internal import Synchronization

/// The `worker` command.
struct WorkerCommand: AsyncParsableCommand {
    /// The largest pipe that Linux permits without privileges.
    private static let pipeByteCount: Int32 = 1 << 20
    /// `F_SETPIPE_SZ`, which glibc declares for programs that define `_GNU_SOURCE`.
    private static let setsPipeByteCount: Int32 = 1031

    static let configuration = CommandConfiguration(
        commandName: "worker",
        abstract: "Makes images for another program, by requests on standard input.",
        discussion: """
            A request is a line of JSON on standard input; its response, a line of JSON on standard \
            output, has the same id. Responses are written in the order in which requests end. The \
            first line of the output describes the worker. The worker ends at the end of its input.

            REQUEST
              {"id":"1","source":"in/1.jpg","outputs":[
                {"name":"small","options":"400,q80","path":"out/1-{digest}.jpg"}]}   (in one line)
              source    a path or a URL. With byteCount, as many bytes follow the line instead.
              outputs   all are made with one decode. The options are those of calotype batch: a \
            size, then fit, fill, stretch, up, a format, q1 to q100, ssim0.5 to ssim0.999, lossless.
              path      the file, written whole or not at all; a file that exists is skipped. {digest} \
            stands for the source, all options and the version of the program, {shard} for its first \
            two digits, {name} and {extension} for those of the output. Without path, the bytes \
            follow the line of the response.
              version   identifies the content of the source, such as its ETag.
              deadlineMilliseconds

            RESPONSE
              {"id":"1","status":"made","format":"jpeg","width":4000,"height":3000,"outputs":[{"name":\
            "small","path":"…","skipped":false,"width":400,"height":300,"byteCount":21044,"sha256":"…"}\
            ],"warnings":[],"error":null,"milliseconds":15,"byteCount":0}
              status is made, skipped or failed; error has kind, message and retry. A source that \
            crashes its decoder fails one request. After a line that is not a request, the worker ends \
            with exit code 1.

            Documentation/worker.md describes the protocol.
            """)

    @Option(
        name: .shortAndLong, help: "The number of requests in progress (default: one per core).")
    var jobs: Int?

    @Option(help: "The time limit of requests that specify none, in seconds.")
    var deadline = 30.0

    @Option(
        help: ArgumentHelp("The maximum size of a source (default: 256MiB).", valueName: "size"),
        transform: parseByteCount)
    var sourceLimit = 256 << 20

    @Option(
        name: .customLong("allow-network"),
        help: """
            A network that is not public and that URLs may use, in CIDR notation such as 10.1.0.0/16. \
            Repeatable.
            """,
        transform: ServingArguments.network)
    var networks: [AddressGuard.Block] = []

    @Flag(help: "Make outputs again that exist.") var replace = false

    @Flag(help: "Refuse truncated files, which are otherwise decoded with a warning.")
    var strict = false

    @OptionGroup var sandboxing: SandboxArguments

    func validate() throws {
        if let jobs, !(1...256 ~= jobs) {
            throw ValidationError("invalid --jobs: \(jobs); use 1 to 256")
        }
        guard 0.001...86_400 ~= deadline else {
            throw ValidationError("invalid --deadline: \(deadline); use 0.001 to 86400 seconds")
        }
        guard 1...1 << 40 ~= sourceLimit else {
            throw ValidationError("invalid --source-limit: \(sourceLimit); use at least 1")
        }
    }

    func run() async throws {
        let transport = AsyncHTTPTransport(addressGuard: AddressGuard(allowed: networks))
        let result = Result { try respond(transport) }
        await transport.close()
        try result.get()
    }

    private func respond(_ transport: AsyncHTTPTransport) throws {
        // A client that has ended is an error of writing.
        signal(SIGPIPE, SIG_IGN)
        let jobCount = jobs ?? processorCount()
        let (codecs, sandbox) = try sandboxing.decoding(workerCount: jobCount)
        defer { sandbox?.close() }
        let runner = WorkRunner(
            maker: OutputMaker(codecs: codecs, isStrict: strict, gainMap: .keep),
            sources: WorkSources(
                transport, codecs, jobCount: jobCount, maximumByteCount: sourceLimit),
            deadline: .seconds(deadline), replacesExisting: replace)
        let interruption = Interruption()
        let output = WorkOutput()
        output.write(hello(jobCount))
        // The bytes of a source then arrive in few parts, each of which wakes both processes.
        _ = fcntl(STDIN_FILENO, Self.setsPipeByteCount, Self.pipeByteCount)
        let reader = Mutex(
            WorkReader(STDIN_FILENO, maximumByteCount: sourceLimit) {
                interruption.signal != nil || output.hasFailed
            })
        perform(jobCount) {
            while true {
                do throws(WorkError) {
                    let item = try reader.withLock { reader throws(WorkError) in
                        try reader.next()
                    }
                    guard let item else { return }
                    output.write(runner.respond(to: item).encoded)
                } catch {
                    output.write(WorkResponse(id: nil, error: error).encoded)
                    output.fail()
                    return
                }
            }
        }
        if let signal = interruption.signal {
            throw Interruption.exitCode(signal, "the files that were written are complete")
        }
        if output.hasFailed { throw ExitCode(1) }
    }

    private func hello(_ jobCount: Int) -> [UInt8] {
        let formats = builtInCodecs.codecs.map { JSON.string($0.format.name) }
        let line = JSON.object([
            .init("worker", .string("calotype")), .init("version", .string(calotypeVersion)),
            .init("protocol", .integer(1)), .init("jobs", .integer(jobCount)),
            .init("sourceLimit", .integer(sourceLimit)), .init("formats", .array(formats)),
        ]).line
        return Array("\(line)\n".utf8)
    }

    /// Runs a body on several threads; more than there are cores, because some wait for servers.
    private func perform(_ count: Int, _ body: @escaping @Sendable () -> Void) {
        let group = DispatchGroup()
        for _ in 0..<count {
            group.enter()
            let thread = Thread {
                body()
                group.leave()
            }
            thread.stackSize = 8 << 20
            thread.start()
        }
        group.wait()
    }
}

/// Standard output, to which each response is written whole.
private final class WorkOutput: Sendable {
    private let failure = Mutex(false)

    /// Whether the input is invalid or the output cannot be written: no further request is read.
    var hasFailed: Bool { failure.withLock { $0 } }

    func fail() { failure.withLock { $0 = true } }

    func write(_ bytes: [UInt8]) {
        failure.withLock { hasFailed in
            if writeAll(bytes, to: STDOUT_FILENO) != nil { hasFailed = true }
        }
    }
}
