#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Answers random queries to an asset catalog by elimination, trait after trait.

usage: catalog_matcher.py FOLDER COUNT SEED

Reads the folder on its own, after Apple's Asset Catalog Format Reference. Each line of the output is a query
and its answer, separated by tabs: the kind, the name, 14 traits (empty if a query leaves them open), and the
index of the slot in Contents.json, or -1.
"""
import json
import os
import random
import re
import sys

KINDS = {"imageset": "images", "appiconset": "images", "colorset": "colors", "dataset": "data",
         "symbolset": "symbols"}
TRAITS = ["idiom", "platform", "subtype", "screen-width", "width-class", "height-class", "luminosity",
          "contrast", "display-gamut", "language-direction", "locale", "memory", "graphics-feature-set",
          "scale"]
VALUES = {
    "idiom": ["iphone", "ipad", "mac", "tv", "watch", "car"], "platform": ["ios"],
    "subtype": ["retina4", "38mm"], "screen-width": ["<=145", ">145"],
    "width-class": ["compact", "regular"], "height-class": ["compact", "regular"],
    "luminosity": ["light", "dark"], "contrast": ["high"], "display-gamut": ["sRGB", "display-P3"],
    "language-direction": ["left-to-right", "right-to-left"],
    "locale": ["ar", "ar-EG", "pt-BR", "pt"], "memory": ["1GB", "2GB", "3GB", "4GB", "8GB"],
    "graphics-feature-set": ["metal1v2", "metal2v2", "metal3v1", "metal2v9"],
    "scale": ["1x", "2x", "3x", "4x"],
}


def slot_traits(slot):
    """The traits of a slot; those that suit every device are missing."""
    traits = {trait: slot[trait] for trait in TRAITS if slot.get(trait) is not None}
    if traits.get("idiom") == "universal":
        del traits["idiom"]
    for appearance in slot.get("appearances", []):
        traits[appearance["appearance"]] = appearance["value"]
    return traits


def is_filled(slot):
    return bool(slot.get("filename")) or "color" in slot


def sets(folder, namespace=""):
    """The kind, the name and the slots of each set."""
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if name.startswith(".") or not os.path.isdir(path):
            continue
        stem, _, ending = name.rpartition(".")
        contents = os.path.join(path, "Contents.json")
        if stem and ending in KINDS:
            with open(contents) as file:
                yield ending, namespace + stem, json.load(file).get(KINDS[ending], [])
        elif not stem or ending in ("spriteatlas", "xcassets") or ending not in OTHERS:
            prefix = namespace
            if os.path.exists(contents):
                with open(contents) as file:
                    if json.load(file).get("properties", {}).get("provides-namespace"):
                        prefix += (stem if ending == "spriteatlas" else name) + "/"
            yield from sets(path, prefix)


OTHERS = {"launchimage", "iconset", "brandassets", "imagestack", "textureset"}


def level(name):
    numbers = [int(number) for number in re.findall("[0-9]+", name)]
    return tuple(numbers)


def keep_exact(slots, trait, wanted):
    exact = [slot for slot in slots if slot[1].get(trait) == wanted]
    return exact or [slot for slot in slots if trait not in slot[1]]


def keep_largest(slots, trait, wanted, order):
    """Slots that require the most of what the device has."""
    def needed(slot):
        return order(slot[1][trait]) if trait in slot[1] else None
    fitting = [slot for slot in slots
               if needed(slot) is None or wanted is not None and needed(slot) <= order(wanted)]
    values = [needed(slot) for slot in fitting if needed(slot) is not None]
    best = max(values) if values else None
    return [slot for slot in fitting if needed(slot) == best]


def keep_locale(slots, wanted):
    if wanted is not None:
        language = wanted
        exact = [slot for slot in slots if slot[1].get("locale") == language]
        if exact:
            return exact
        parents = [slot for slot in slots
                   if "locale" in slot[1] and wanted.startswith(slot[1]["locale"] + "-")]
        if parents:
            return parents
    return [slot for slot in slots if "locale" not in slot[1]]


def keep_gamut(slots, wanted):
    exact = [slot for slot in slots if slot[1].get("display-gamut") == (wanted or "sRGB")]
    return exact or [slot for slot in slots if "display-gamut" not in slot[1]] or slots


def keep_scale(slots, wanted):
    wanted = int(wanted[:-1]) if wanted else 1
    scales = [int(slot[1]["scale"][:-1]) for slot in slots if "scale" in slot[1]]
    if wanted in scales:
        best = wanted
    elif any("scale" not in slot[1] for slot in slots):
        return [slot for slot in slots if "scale" not in slot[1]]
    else:
        above = [scale for scale in scales if scale > wanted]
        best = min(above) if above else max(scales)
    return [slot for slot in slots if slot[1].get("scale") == f"{best}x"]


def can_suit(slot, query):
    """Whether the device fulfils what the slot requires."""
    for trait, value in slot.items():
        wanted = query.get(trait)
        if trait == "luminosity":
            wanted = wanted or "light"
        if trait in ("scale", "display-gamut"):
            continue
        if trait == "locale":
            fits = wanted is not None and (wanted == value or wanted.startswith(value + "-"))
        elif trait == "memory":
            fits = wanted is not None and int(value[:-2]) <= int(wanted[:-2])
        elif trait == "graphics-feature-set":
            fits = wanted is not None and level(value) <= level(wanted)
        else:
            fits = wanted == value
        if not fits:
            return False
    return True


def answer(slots, query):
    left = [slot for slot in slots if can_suit(slot[1], query)]
    for trait in TRAITS:
        if not left:
            return -1
        wanted = query.get(trait)
        if trait == "locale":
            left = keep_locale(left, wanted)
        elif trait == "display-gamut":
            left = keep_gamut(left, wanted)
        elif trait == "memory":
            left = keep_largest(left, trait, wanted, lambda text: int(text[:-2]))
        elif trait == "graphics-feature-set":
            left = keep_largest(left, trait, wanted, level)
        elif trait == "scale":
            left = keep_scale(left, wanted)
        else:
            left = keep_exact(left, trait, wanted or ("light" if trait == "luminosity" else None))
    return left[0][0] if left else -1


def main():
    folder, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    generator = random.Random(seed)
    assets = []
    for kind, name, slots in sets(folder):
        filled = [(index, slot_traits(slot)) for index, slot in enumerate(slots) if is_filled(slot)]
        assets.append((kind, name, filled))
    for _ in range(count):
        kind, name, slots = generator.choice(assets)
        query = {}
        for trait in TRAITS:
            if generator.random() < 0.5:
                query[trait] = generator.choice(VALUES[trait])
        if slots and generator.random() < 0.5:
            # Near a slot, so that most queries have an answer.
            query.update(generator.choice(slots)[1])
        fields = [kind, name] + [query.get(trait, "") for trait in TRAITS]
        print("\t".join(fields + [str(answer(slots, query))]))


if __name__ == "__main__":
    main()
