// SPDX-License-Identifier: Apache-2.0

/// Finds the slots that devices can select.
///
/// A slot is removed only if, for each device, it does not suit the device or another slot is always
/// preferred to it, whatever the traits are that the device leaves open.
struct Thinning {
    /// The devices; a trait that is `nil` may have any value.
    let devices: [AssetTraits]

    /// The indices of the slots to keep, in their order; those without content are not kept.
    func keptSlots(of asset: Asset) -> [Int] {
        let filled = asset.slots.indices.filter { asset.slots[$0].content != .empty }
        // Icons are selected by their size, which is not a trait.
        guard !devices.isEmpty else { return filled }
        return filled.filter { slot in
            devices.contains { device in
                canBeSelected(slot, of: asset, among: filled, by: device)
            }
        }
    }

    private func canBeSelected(
        _ slot: Int, of asset: Asset, among filled: [Int], by device: AssetTraits
    ) -> Bool {
        let traits = asset.slots[slot].traits
        let fits = AssetTraits.Attribute.allCases.allSatisfy {
            !device.fixes($0) || traits.distance($0, from: device) != nil
        }
        guard fits else { return false }
        return !filled.contains { other in
            other != slot && asset.slots[other].size == asset.slots[slot].size
                && asset.slots[other].traits.isAlwaysPreferred(
                    to: traits, by: device, ifEqual: other < slot)
        }
    }
}

extension AssetTraits {
    /// Whether a device with these traits leaves no other value open.
    fileprivate func fixes(_ attribute: Attribute) -> Bool { value(of: attribute) != nil }

    private func value(of attribute: Attribute) -> String? {
        switch attribute {
        case .idiom: idiom
        case .platform: platform
        case .subtype: subtype
        case .screenWidth: screenWidth
        case .widthClass: widthClass
        case .heightClass: heightClass
        case .luminosity: luminosity
        case .contrast: contrast
        case .gamut: gamut
        case .direction: direction
        case .locale: locale
        case .memory: memory.map { "\($0)" }
        case .graphics: graphics
        case .scale: scale.map { "\($0)" }
        }
    }

    /// Whether a device selects a slot with these traits rather than one with other traits, for all
    /// values of the traits that the device leaves open.
    fileprivate func isAlwaysPreferred(
        to other: AssetTraits, by device: AssetTraits, ifEqual: Bool
    ) -> Bool {
        var isPreferred = false
        for attribute in Attribute.allCases {
            let isEqual = value(of: attribute) == other.value(of: attribute)
            if isEqual { continue }
            guard device.fixes(attribute) else {
                // Distances are compared in their order, so that this one no longer counts if the slot is
                // preferred already; it only has to suit every device.
                if isPreferred, suitsEveryDevice(attribute) { continue }
                return false
            }
            guard let distance = distance(attribute, from: device),
                let otherDistance = other.distance(attribute, from: device)
            else { return false }
            if isPreferred || distance == otherDistance { continue }
            if distance > otherDistance { return false }
            isPreferred = true
        }
        return isPreferred || ifEqual
    }

    /// Whether a slot with this trait suits all values of the trait.
    private func suitsEveryDevice(_ attribute: Attribute) -> Bool {
        switch attribute {
        case .gamut, .scale: true
        default: value(of: attribute) == nil
        }
    }
}
