// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Glibc
internal import Pixels

/// A codec whose files are one line: `HOSTILE` and the action of an attacker who controls it.
struct HostileCodec: ImageCodec {
    let format = ImageFormat(
        name: "hostile", extensions: ["hostile"], mediaType: "image/x-hostile",
        signatures: [.init(Array("HOSTILE ".utf8))])
    let decoder: any ImageDecoder = HostileDecoding()
    let encoder: (any ImageEncoder)? = nil
}

private struct HostileDecoding: ImageDecoder {
    func header(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> ImageHeader {
        if bytes.count >= 18, (8..<18).map({ bytes[$0] }) == Array("headerloop".utf8) {
            while getpid() > 0 {}
        }
        return ImageHeader(
            storedSize: PixelSize(width: 8, height: 8), colorModel: .gray, bitsPerComponent: 8)
    }

    func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
        let line = String(decoding: (8..<bytes.count).map { bytes[$0] }, as: UTF8.self)
        let words = line.split(separator: " ").map(String.init)
        unsafe perform(words[0], words.dropFirst().first ?? "", rows.cancellation)
        try rows.begin(PixelSize(width: 8, height: 8), .gray8, .sRGB)
        let gray = words[0] == "fill" ? UInt8(words[1]) ?? 0 : 7
        for _ in 0..<8 { try rows.append([UInt8](repeating: gray, count: 8).span) }
    }

    /// Performs an action that an exploit would start with and the sandbox must prevent.
    ///
    /// Results of system calls are not printed, because printing would terminate the worker.
    @unsafe private func perform(
        _ word: String, _ argument: String, _ cancellation: CancellationFlag?
    ) {
        switch word {
        case "behave":
            break
        case "crash":
            unsafe UnsafeMutablePointer<UInt8>(bitPattern: 8)?.pointee = 1
        case "trap":
            let numbers = [UInt8](repeating: 0, count: argument.utf8.count)
            print(numbers[argument.utf8.count + Int(getpid())])
        case "abort":
            abort()
        case "overflow":
            print(unsafe depth(of: 1))
        case "loop":
            // A system call, because the optimizer removes an empty loop.
            while getpid() > 0 {}
        case "wait":
            // Checks for cancellation, as a well-behaved codec does.
            while cancellation?.isCancelled != true {}
        case "allocate":
            var blocks: [[UInt8]] = []
            while true { blocks.append([UInt8](repeating: 1, count: 16 << 20)) }
        case "open":
            _ = unsafe open("/etc/passwd", O_RDONLY)
        case "connect":
            _ = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        case "spawn":
            var process = pid_t()
            _ = unsafe posix_spawn(&process, "/bin/true", nil, nil, [nil], [nil])
        case "run":
            _ = unsafe execve("/bin/true", [nil], [nil])
        case "kill":
            _ = Glibc.kill(getppid(), SIGKILL)
        case "look":
            // Lists other processes.
            _ = unsafe opendir("/proc")
        case "name":
            // As libraries name their threads, which is harmless.
            unsafe callOnThread("pthread_setname_np", argument: "decoder")
        case "ask":
            // The same system call for another purpose.
            unsafe callOnThread("pthread_getname_np", argument: "room for a name")
        case "share":
            _ = unsafe mmap(
                nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
        case "code":
            _ = unsafe mmap(
                nil, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        case "write":
            // Writes to the file or the result memory, far past its end.
            _ = unsafe pwrite(Int32(argument) ?? 4, word, 1, 1 << 30)
        case "map":
            // The same through a mapping instead of a system call.
            let place = unsafe mmap(
                nil, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, Int32(argument) ?? 4, 1 << 30)
            if let place = unsafe place, unsafe place != MAP_FAILED {
                unsafe place.storeBytes(of: 1, as: UInt8.self)
            }
            exit(9)
        case "keep":
            // The result stays mapped for writing, to be modified after the host has read it.
            for descriptor in 4..<Int32(10) {
                _ = unsafe mmap(nil, 64, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
            }
        case "leave":
            exit(3)
        case "say":
            say(argument)
        case "babble":
            while true { say(String(repeating: "4c", count: 4096)) }
        case "shout":
            // A message header that specifies an excessive length.
            say("434c324465000000000000000000ff7f")
        default:
            break
        }
    }

    /// Calls a C library function that takes a thread, bytes and optionally their count.
    @unsafe private func callOnThread(_ name: String, argument: String) {
        typealias Function =
            @convention(c) (pthread_t, UnsafeMutablePointer<CChar>, Int) -> Int32
        guard let symbol = unsafe dlsym(nil, name) else { return }
        var bytes = argument.utf8CString.map { $0 }
        _ = unsafe unsafeBitCast(symbol, to: Function.self)(pthread_self(), &bytes, bytes.count)
    }

    @unsafe private func depth(of number: Int) -> Int {
        // Stack memory that is read after the call, so that the optimizer makes no loop of it.
        unsafe withUnsafeTemporaryAllocation(of: Int.self, capacity: 512) { room in
            unsafe room.initialize(repeating: number)
            let depth = unsafe depth(of: number + 1)
            return unsafe depth + room[Int(getpid()) & 511]
        }
    }
}

/// Sends bytes that are not a valid response to the host, given as hexadecimal digits.
func say(_ digits: String) {
    var bytes: [UInt8] = []
    var rest = digits.filter { $0 != " " }[...]
    while rest.count >= 2 {
        bytes.append(UInt8(rest.prefix(2), radix: 16) ?? 0)
        rest = rest.dropFirst(2)
    }
    unsafe bytes.withUnsafeMutableBytes { bytes in
        var piece = unsafe iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
        unsafe withUnsafeMutablePointer(to: &piece) { piece in
            var message = unsafe msghdr()
            unsafe message.msg_iov = piece
            unsafe message.msg_iovlen = 1
            _ = unsafe sendmsg(0, &message, Int32(MSG_NOSIGNAL))
        }
    }
}
