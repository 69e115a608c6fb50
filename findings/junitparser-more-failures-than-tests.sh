#!/usr/bin/env bash
# junitparser 5.0.3: a test case with two failures counts as one test and two failures, so that a suite may have more failures than tests.
# JUnit's own schema allows one failure a test; files of tools that report each violation as one have several.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check junitparser==5.0.3
cat > seen.py <<'PY'
from junitparser import JUnitXml
suites = JUnitXml.fromstring('<testsuites><testsuite name="a"><testcase name="x"><failure message="m"/><failure message="n"/></testcase></testsuite></testsuites>')
for suite in suites:
    suite.update_statistics()
    print(suite.tests, "test,", suite.failures, "failures")
PY
venv/bin/python -W ignore seen.py > seen 2> errors || { cat errors >&2; exit 1; }

diff - "$folder/seen" <<'END' || { echo "it behaves otherwise now" >&2; exit 1; }
1 test, 2 failures
END
echo "as described"
