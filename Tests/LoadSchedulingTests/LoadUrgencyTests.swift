// SPDX-License-Identifier: Apache-2.0

import LoadingTesting
import Testing

@testable import LoadScheduling

@Suite("The priority of a load") struct LoadUrgencyTests {
    // As the first bytes of an image do, whose preview is to be as urgent as the image.
    @Test("can be read by an observer during its notification")
    func reading() {
        let urgency = PriorityHandle(.visible)
        let seen = Log<LoadPriority>()
        let number = urgency.follow { _ in seen.append(urgency.priority) }
        urgency.priority = .background
        urgency.unfollow(number)
        urgency.priority = .visible
        #expect(seen.items == [.visible, .background])
    }
}
