// SPDX-License-Identifier: Apache-2.0

internal import CSandbox
public import EncodedImages
internal import Pixels
#if canImport(Glibc)
    internal import Glibc
#endif

/// The process in which pictures are decoded: it answers its host until that closes the connection.
public enum SandboxWorker {
    /// Gives up everything that decoding does not need, then decodes what the host sends.
    ///
    /// - Parameters:
    ///   - codecs: the formats that are read here; their libraries must be loaded already.
    ///   - rehearsals: files of the program's own that are decoded first, so that libraries that read
    ///     tables of the system when they are first used have done so.
    public static func run(codecs: CodecSet, rehearsals: [[UInt8]] = []) -> Never {
        for file in rehearsals {
            _ = try? ImageSource(EncodedBytes(file), codecs: codecs).image()
        }
        calotype_report_crashes()
        let descriptor = Int32(calotype_worker_control)
        guard let control = ControlPage(descriptor),
            let room = MemoryMapping(
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
            codecs: codecs, control: control, room: room, connection: connection)
        while true { requests.answerNext() }
    }
}
