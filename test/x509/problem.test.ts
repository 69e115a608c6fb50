/** Which problem of several is told, and which one ends the search, by the order of the reference implementation's library. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CertificateProblem, type ProblemName } from "../../src/x509/problem.js";

test("problems are ranked by how much they tell, whatever part has trailing data", () => {
  const names: ProblemName[] = [
    "BadDer",
    "UnknownIssuer",
    "TrailingData(Extension)",
    "CertExpired",
    "MalformedDnsIdentifier",
  ];
  const ranked = names.map((name) => new CertificateProblem(name)).sort((a, b) => a.rank - b.rank);
  assert.deepEqual(
    ranked.map(({ message }) => message),
    ["UnknownIssuer", "BadDer", "TrailingData(Extension)", "MalformedDnsIdentifier", "CertExpired"],
  );
});

test("the search ends when it has become too expensive, and not at a path that is too long", () => {
  const isFinal = (name: ProblemName) => new CertificateProblem(name).final;
  assert.deepEqual(
    (
      [
        "MaximumSignatureChecksExceeded",
        "MaximumPathBuildCallsExceeded",
        "MaximumNameConstraintComparisonsExceeded",
        "MaximumPathDepthExceeded",
        "UnknownIssuer",
      ] as const
    ).map(isFinal),
    [true, true, true, false, false],
  );
});
