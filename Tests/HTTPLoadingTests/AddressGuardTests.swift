// SPDX-License-Identifier: Apache-2.0

import HTTPCaching
import HTTPTesting
import HTTPTypes
import LoadScheduling
import Synchronization
import Testing

@testable import HTTPLoading

@Suite("An address guard", .timeLimit(.minutes(10))) struct AddressGuardTests {
    @Test(
        "rejects IP addresses that are not public",
        arguments: [
            "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255",
            "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1", "172.31.255.255",
            "192.0.0.8", "192.0.2.1", "192.168.0.1", "192.88.99.1", "198.18.0.1", "198.51.100.7",
            "203.0.113.7", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "::",
            "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::ffff:8.8.8.8",
            "64:ff9b::7f00:1", "64:ff9b:1::a00:1", "100::1", "2001::1", "2001:0:a00:1::1",
            "2001:db8::1", "2002:7f00:1::1", "2002:a9fe:a9fe::", "3fff::1", "fc00::1", "fd12::1",
            "fe80::1", "fec0::1", "ff02::1", "2a00:1450::5efe:7f00:1",
            "2a00:1450::200:5efe:a9fe:a9fe",
        ])
    func closed(address: String) throws {
        let bytes = try #require(HostNumber(address)).bytes
        #expect(!AddressGuard().allows(bytes))
    }

    @Test(
        "accepts public IP addresses",
        arguments: [
            "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0",
            "126.255.255.255", "128.0.0.1", "172.15.255.255", "172.32.0.0", "192.167.255.255",
            "192.169.0.0", "223.255.255.255", "2606:4700::1111", "2a00:1450:4001:80f::200e",
            "2400:cb00::1",
        ])
    func open(address: String) throws {
        let bytes = try #require(HostNumber(address)).bytes
        #expect(AddressGuard().allows(bytes))
    }

    @Test("accepts an allowed network") func named() throws {
        let block = try #require(AddressGuard.Block("10.1.0.0/16"))
        let guarded = AddressGuard(allowed: [block])
        #expect(guarded.allows([10, 1, 255, 255]))
        #expect(!guarded.allows([10, 2, 0, 0]))
        for text in [
            "", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/x", "ten/8", "::/129", "1.1.1.1/8/8",
        ] {
            #expect(AddressGuard.Block(text) == nil, "\(text)")
        }
    }

    @Test("rejects a host with one address that is not public") func mixed() throws {
        let guarded = AddressGuard(allowed: []) { _ in
            ["8.8.8.8", "127.0.0.1"].compactMap(HostNumber.init)
        }
        #expect(try guarded.addresses(of: "liar.example").isEmpty)
    }

    private func request(_ address: String, port: String) -> HTTPRequest {
        HTTPRequest(method: .get, scheme: "http", authority: "\(address):\(port)", path: "/a.png")
    }

    @Test(
        "sends nothing to a rejected address, in any notation",
        arguments: [
            "127.0.0.1", "localhost", "[::1]", "0.0.0.0", "[::]", "2130706433", "0x7f.1",
            "0177.0.0.1", "127.1", "127.0.0.1.",
        ])
    func noPacket(host: String) async throws {
        let server = try await ScriptedServer { _, _ in
            .init(text: "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        }
        let port = String(server.address.split(separator: ":").last ?? "")
        let transport = AsyncHTTPTransport(addressGuard: AddressGuard())
        do throws(LoadError) {
            _ = try await transport.send(request(host, port: port))
            Issue.record("\(host) was asked")
        } catch {
            switch error {
            case .addressRefused, .connectionFailed: break
            default: Issue.record("\(error)")
            }
        }
        #expect(server.requests.isEmpty)
        #expect(server.acceptedCount == 0)
        await transport.close()
        try await server.close()
    }

    @Test("connects to the checked address when the host name changes")
    func rebinding() async throws {
        let server = try await ScriptedServer { _, _ in
            .init(text: "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        }
        let port = String(server.address.split(separator: ":").last ?? "")
        let lookUps = Mutex(0)
        let block = try #require(AddressGuard.Block("127.0.0.1"))
        let guarded = AddressGuard(allowed: [block]) { _ in
            let count = lookUps.withLock { count in
                count += 1
                return count
            }
            return [count == 1 ? "127.0.0.1" : "127.0.0.2"].compactMap(HostNumber.init)
        }
        let transport = AsyncHTTPTransport(addressGuard: guarded)
        // No name server knows the name: only the number that was checked can be meant.
        let answer = try await transport.send(request("pictures.invalid", port: port))
        #expect(answer.head.status == .ok)
        #expect(lookUps.withLock { $0 } == 1)
        #expect(server.requests.first?.lowercased().contains("host: pictures.invalid") == true)
        await #expect(throws: LoadError.self) {
            _ = try await transport.send(request("pictures.invalid", port: port))
        }
        #expect(server.requests.count == 1)
        await transport.close()
        try await server.close()
    }

    @Test("stays with an address while the host name has it, in any order")
    func rotation() async throws {
        let server = try await ScriptedServer { _, _ in
            .init(text: "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        }
        let port = String(server.address.split(separator: ":").last ?? "")
        let numbers = Mutex(["127.0.0.1", "127.0.0.2"])
        let block = try #require(AddressGuard.Block("127.0.0.0/8"))
        let guarded = AddressGuard(allowed: [block]) { _ in
            numbers.withLock { numbers in
                defer { numbers.reverse() }
                return numbers.compactMap(HostNumber.init)
            }
        }
        let transport = AsyncHTTPTransport(addressGuard: guarded)
        for _ in 0..<3 {
            let answer = try await transport.send(request("pictures.invalid", port: port))
            #expect(answer.head.status == .ok)
        }
        #expect(server.requests.count == 3)
        await transport.close()
        try await server.close()
    }
}
