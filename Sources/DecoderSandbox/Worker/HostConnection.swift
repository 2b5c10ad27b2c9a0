// SPDX-License-Identifier: Apache-2.0

internal import CSandbox
internal import Glibc

/// The worker's end of the connection to its host; the process exits when it is closed.
struct HostConnection {
    private let socket = Int32(calotype_worker_socket)

    func send(_ message: Message) {
        let bytes = message.bytes
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
        let received = try? Message(maximumByteCount: Message.maximumShortByteCount) {
            receive(&$0, at: $1, &descriptors)
        }
        guard var message = received ?? nil else { exit(EXIT_FAILURE) }
        message.descriptors = descriptors
        return message
    }

    private func receive(
        _ bytes: inout [UInt8], at place: Int, _ descriptors: inout [Int32]
    ) -> Int {
        var more = [Int32](repeating: -1, count: calotype_most_descriptors)
        var moreCount: Int32 = 0
        let count = unsafe bytes.withUnsafeMutableBytes { bytes in
            unsafe more.withUnsafeMutableBufferPointer { more in
                unsafe calotype_receive(
                    socket, bytes.baseAddress?.advanced(by: place), bytes.count - place,
                    more.baseAddress, Int32(more.count), &moreCount)
            }
        }
        descriptors += more.prefix(Int(moreCount))
        // The host has ended, or has closed the connection.
        guard count > 0 else { exit(count == 0 ? EXIT_SUCCESS : EXIT_FAILURE) }
        return count
    }
}
