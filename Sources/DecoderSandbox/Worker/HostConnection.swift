// SPDX-License-Identifier: Apache-2.0

internal import CSandbox
#if canImport(Glibc)
    internal import Glibc
#endif

/// A worker's end of the connection to its host; the process ends with it.
struct HostConnection {
    private let socket = Int32(calotype_worker_socket)

    func send(_ message: Message) {
        let bytes = message.head + message.body
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.span.extracting(sent...).withUnsafeBytes {
                unsafe calotype_send(socket, $0.baseAddress, $0.count, nil, 0, true)
            }
            guard count > 0 else { exit(EXIT_FAILURE) }
            sent += count
        }
    }

    func receive() -> Message {
        var descriptors: [Int32] = []
        let head = bytes(Message.headByteCount, &descriptors)
        guard
            var message = try? Message(
                head: head, maximumByteCount: Message.maximumShortByteCount)
        else { exit(EXIT_FAILURE) }
        message.body = bytes(message.body.count, &descriptors)
        message.descriptors = descriptors
        return message
    }

    private func bytes(_ count: Int, _ descriptors: inout [Int32]) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var received = 0
        while received < count {
            var more: [Int32] = [-1, -1]
            var moreCount: Int32 = 0
            let answer = unsafe bytes.withUnsafeMutableBytes { bytes in
                unsafe more.withUnsafeMutableBufferPointer { more in
                    unsafe calotype_receive(
                        socket, bytes.baseAddress?.advanced(by: received), count - received,
                        more.baseAddress, 2, &moreCount)
                }
            }
            descriptors += more.prefix(Int(moreCount))
            // The host is gone, or has closed the connection because it needs no more.
            guard answer > 0 else { exit(answer == 0 ? EXIT_SUCCESS : EXIT_FAILURE) }
            received += answer
        }
        return bytes
    }
}
