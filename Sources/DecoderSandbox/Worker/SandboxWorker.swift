// SPDX-License-Identifier: Apache-2.0

internal import CSandbox
public import EncodedImages
internal import Pixels
internal import Glibc

/// The worker process, which decodes images for its host until the host closes the connection.
public enum SandboxWorker {
    /// Drops all privileges that decoding does not require, then handles the requests of the host.
    ///
    /// - Parameter prepare: loads the libraries of formats, `nil` for all. Returns the codecs, and
    ///   trusted files that are decoded first, so that libraries that read system files at their first
    ///   use have read them.
    public static func run(
        preparing prepare: (_ formats: Set<String>?) -> (CodecSet, rehearsals: [[UInt8]])
    ) -> Never {
        let (codecs, rehearsals) = prepare(
            WorkerFormats(arguments: CommandLine.arguments).names)
        for file in rehearsals {
            _ = try? ImageSource(EncodedBytes(file), codecs: codecs).image()
        }
        calotype_report_crashes()
        let descriptor = Int32(calotype_worker_control)
        guard let control = ControlPage(descriptor),
            let buffer = MemoryMapping(
                descriptor, byteCount: ControlPage.byteCount, isWritable: true)
        else { exit(EXIT_FAILURE) }
        close(descriptor)
        var hello = WireWriter()
        hello.write(WireLayout.fingerprint)
        let layers = calotype_lock_down(
            UInt64(control.memoryMegabytes) << 20, UInt64(control.seconds))
        hello.write(Int(layers))
        let connection = HostConnection()
        connection.send(Message(.hello, 0, hello.bytes))
        var requests = RequestLoop(
            codecs: codecs, control: control, buffer: buffer, connection: connection)
        while true { requests.handleNext() }
    }
}
