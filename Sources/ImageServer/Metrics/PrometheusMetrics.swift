// SPDX-License-Identifier: Apache-2.0

public import CoreMetrics
internal import Synchronization

/// A metrics backend that exports the text format of Prometheus.
///
/// A program passes it to `MetricsSystem.bootstrap` once, and to
/// ``ImageServer/Configuration/metrics``. Timers become histograms in seconds.
/// - SeeAlso: Prometheus documentation, “Exposition formats”.
public final class PrometheusMetrics: MetricsFactory {
    private struct Key: Hashable {
        let name: String
        let labels: String
    }

    private let counters = Mutex<[Key: CounterValue]>([:])
    private let gauges = Mutex<[Key: GaugeValue]>([:])
    private let histograms = Mutex<[Key: HistogramValue]>([:])

    /// Creates a backend without metrics.
    public init() {}

    /// Returns the counter with this label and these dimensions, named `…_total`.
    public func makeCounter(
        label: String, dimensions: [(String, String)]
    ) -> any CounterHandler {
        Self.value(of: Self.key(label, dimensions, "_total"), in: counters) { CounterValue() }
    }

    /// Returns the gauge with this label and these dimensions.
    public func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        Self.value(of: Self.key(label, dimensions, ""), in: gauges) { GaugeValue() }
    }

    /// Returns the histogram with this label and these dimensions, named `…_seconds`.
    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        Self.value(of: Self.key(label, dimensions, "_seconds"), in: histograms) {
            HistogramValue()
        }
    }

    /// Does nothing: counters are exported for the lifetime of the program.
    public func destroyCounter(_ handler: any CounterHandler) {}
    /// Does nothing: gauges are exported for the lifetime of the program.
    public func destroyRecorder(_ handler: any RecorderHandler) {}
    /// Does nothing: histograms are exported for the lifetime of the program.
    public func destroyTimer(_ handler: any TimerHandler) {}

    /// All metrics in the text format, ordered by name.
    public var text: String {
        var families: [String: (kind: String, lines: [String])] = [:]
        func add(_ key: Key, _ kind: String, _ lines: [String]) {
            families[key.name, default: (kind, [])].lines += lines
        }
        for (key, value) in counters.withLock({ $0 }) {
            add(key, "counter", ["\(key.name)\(Self.braced(key.labels)) \(value.value)"])
        }
        for (key, value) in gauges.withLock({ $0 }) {
            add(key, "gauge", ["\(key.name)\(Self.braced(key.labels)) \(value.value)"])
        }
        for (key, value) in histograms.withLock({ $0 }) {
            add(key, "histogram", value.lines(key.name, key.labels))
        }
        return families.sorted { $0.key < $1.key }.map { name, family in
            // The lines of a histogram keep the order of its buckets.
            let lines =
                family.kind == "histogram" ? family.lines : family.lines.sorted()
            return "# TYPE \(name) \(family.kind)\n" + lines.joined(separator: "\n") + "\n"
        }.joined()
    }

    private static func value<Value: Sendable>(
        of key: Key, in values: borrowing Mutex<[Key: Value]>, _ make: () -> Value
    ) -> Value {
        values.withLock { values in
            if let value = values[key] { return value }
            let value = make()
            values[key] = value
            return value
        }
    }

    private static func key(
        _ label: String, _ dimensions: [(String, String)], _ suffix: String
    ) -> Key {
        func word(_ text: String) -> String {
            String(text.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
        }
        let labels = dimensions.map { name, value in
            let escaped = value.map { character in
                switch character {
                case "\\": "\\\\"
                case "\"": "\\\""
                case "\n": "\\n"
                default: String(character)
                }
            }
            return "\(word(name))=\"\(escaped.joined())\""
        }
        return Key(name: word(label) + suffix, labels: labels.joined(separator: ","))
    }

    fileprivate static func braced(_ labels: String) -> String {
        labels.isEmpty ? "" : "{\(labels)}"
    }
}

private final class CounterValue: CounterHandler {
    private let count = Atomic<Int64>(0)

    var value: Int64 { count.load(ordering: .relaxed) }

    func increment(by amount: Int64) { count.add(amount, ordering: .relaxed) }
    func reset() { count.store(0, ordering: .relaxed) }
}

private final class GaugeValue: RecorderHandler {
    private let bits = Atomic<UInt64>(0)

    var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }

    func record(_ value: Int64) { record(Double(value)) }
    func record(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }
}

private final class HistogramValue: TimerHandler {
    private struct State {
        var counts = Array(repeating: 0, count: HistogramValue.bounds.count + 1)
        var nanoseconds: Int64 = 0
    }

    /// The upper bounds of the buckets in seconds.
    static let bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
    private let state = Mutex(State())

    func recordNanoseconds(_ duration: Int64) {
        let seconds = Double(duration) / 1e9
        let index = Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count
        state.withLock { state in
            state.counts[index] += 1
            state.nanoseconds += duration
        }
    }

    func lines(_ name: String, _ labels: String) -> [String] {
        let state = state.withLock { $0 }
        let more = labels.isEmpty ? "" : labels + ","
        var sum = 0
        var lines = zip(state.counts, Self.bounds.map { "\($0)" } + ["+Inf"]).map { count, bound in
            sum += count
            return "\(name)_bucket{\(more)le=\"\(bound)\"} \(sum)"
        }
        let braced = PrometheusMetrics.braced(labels)
        lines.append("\(name)_sum\(braced) \(Double(state.nanoseconds) / 1e9)")
        lines.append("\(name)_count\(braced) \(sum)")
        return lines
    }
}
