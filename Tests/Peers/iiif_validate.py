# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of iiif-validator-ng for the features that a server declares: BASE-URL 2|3 IDENTIFIER.

The package's own command needs Python 3.12. Prints a line for each result that is none; its status
says whether there was one.
"""

import sys

from iiif_validator.tests.test import (
    IIIFVersion, ServerFeatures, TargetServer, ValidationSuccess, get_tests)


def applies(test, features: ServerFeatures) -> bool:
    if features.version not in test.versions:
        return False
    level = test.compliance_level
    if isinstance(level, dict):
        level = level[features.version]
    names = test.extra_name or []
    announced = features.extra_features + features.extra_formats + features.extra_qualities
    return (level <= features.compliance_level
            or any(name in announced for name in ([names] if isinstance(names, str) else names))
            or test.__name__ == "HttpCachingTest")


base, version, identifier = sys.argv[1:]
server = TargetServer(base, identifier, IIIFVersion.V2 if version == "2" else IIIFVersion.V3)
features = server.feature_set()
passed, failed = 0, 0
for test in get_tests(server.version):
    if not applies(test, features):
        continue
    try:
        results = test.run(server)
    except Exception as error:
        results = [error]
    for result in results if isinstance(results, list) else [results]:
        if isinstance(result, ValidationSuccess):
            passed += 1
        else:
            failed += 1
            print(f"{test.name}: {result}")
print(f"level {int(features.compliance_level)} of version {version}: {passed} passed, {failed} failed")
sys.exit(1 if failed or not passed else 0)
