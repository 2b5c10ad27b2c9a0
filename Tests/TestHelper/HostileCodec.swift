// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Glibc
internal import Pixels

/// Files of a line each, `HOSTILE` and a word; the word is what a codec in a stranger's hands does.
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

    /// What a codec must not be able to do; each of it is what an exploit would begin with.
    ///
    /// What the system answers is not printed: that alone would end the worker.
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
            // A call of the system, or an optimizer finds that the loop does nothing.
            while getpid() > 0 {}
        case "wait":
            // Politely, as a codec of ours does.
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
            // At who else there is.
            _ = unsafe opendir("/proc")
        case "name":
            // As threads of libraries do, which is harmless.
            unsafe callOnThread("pthread_setname_np", argument: "decoder")
        case "ask":
            // The same call of the system for another purpose.
            unsafe callOnThread("pthread_getname_np", argument: "room for a name")
        case "share":
            _ = unsafe mmap(
                nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
        case "code":
            _ = unsafe mmap(
                nil, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        case "write":
            // To the memory of the result, or the file, far behind what is its own.
            _ = unsafe pwrite(Int32(argument) ?? 4, word, 1, 1 << 30)
        case "map":
            // The same without asking the system to write.
            let place = unsafe mmap(
                nil, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, Int32(argument) ?? 4, 1 << 30)
            if let place = unsafe place, unsafe place != MAP_FAILED {
                unsafe place.storeBytes(of: 1, as: UInt8.self)
            }
            exit(9)
        case "keep":
            // The result stays mapped for writing, to be changed when the host has looked at it.
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
            // A head that promises more than any message has.
            say("434c324465000000000000000000ff7f")
        default:
            break
        }
    }

    /// Calls a function of the C library that takes a thread, bytes and their count, if any.
    @unsafe private func callOnThread(_ name: String, argument: String) {
        typealias Function =
            @convention(c) (pthread_t, UnsafeMutablePointer<CChar>, Int) -> Int32
        guard let symbol = unsafe dlsym(nil, name) else { return }
        var bytes = argument.utf8CString.map { $0 }
        _ = unsafe unsafeBitCast(symbol, to: Function.self)(pthread_self(), &bytes, bytes.count)
    }

    @unsafe private func depth(of number: Int) -> Int {
        // Memory of the frame that is read after the call, or an optimizer makes a loop of this.
        unsafe withUnsafeTemporaryAllocation(of: Int.self, capacity: 512) { room in
            unsafe room.initialize(repeating: number)
            let depth = unsafe depth(of: number + 1)
            return unsafe depth + room[Int(getpid()) & 511]
        }
    }
}

/// Sends bytes to the host, such as are no answer; written in hexadecimal digits.
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
