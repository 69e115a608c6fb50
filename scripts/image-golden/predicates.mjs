/** Small predicates of each type: file name to content. */
const digest = { sha1: "2222222222222222222222222222222222222222" };
const at = "2026-01-02T03:04:05Z";

export const PREDICATES = {
  "slsa.json": {
    builder: { id: "https://example.org/builder" },
    buildType: "https://example.org/build/v1",
    invocation: {
      configSource: { uri: "git+https://github.com/example/app@refs/heads/main", digest, entryPoint: "release.yml" },
    },
    metadata: { completeness: { parameters: true, environment: false, materials: false }, reproducible: false },
    materials: [{ uri: "git+https://github.com/example/app", digest }],
  },
  "slsa1.json": {
    buildDefinition: {
      buildType: "https://example.org/build/v1",
      externalParameters: { repository: "https://github.com/example/app", ref: "refs/heads/main" },
      resolvedDependencies: [{ uri: "git+https://github.com/example/app", digest: { gitCommit: digest.sha1 } }],
    },
    runDetails: { builder: { id: "https://example.org/builder" }, metadata: { invocationId: "42" } },
  },
  "scan.json": { scanner: "example", result: "passed", severities: { critical: 0, high: 2 }, at },
  "failed.json": { scanner: "example", result: "failed", severities: { critical: 3, high: 9 }, at },
  "vuln.json": {
    invocation: { parameters: [], uri: "https://example.org/run/42", event_id: "42", "builder.id": "example" },
    scanner: {
      uri: "pkg:example/scanner@1.0.0",
      version: "1.0.0",
      db: { uri: "https://example.org/db", version: "2026-01-02" },
      result: { vulnerabilities: [] },
    },
    metadata: { scanStartedOn: at, scanFinishedOn: at },
  },
  "spdx.json": {
    spdxVersion: "SPDX-2.3",
    dataLicense: "CC0-1.0",
    SPDXID: "SPDXRef-DOCUMENT",
    name: "app",
    documentNamespace: "https://example.org/spdx/app",
    creationInfo: { created: at, creators: ["Tool: example"] },
    packages: [
      {
        name: "base",
        SPDXID: "SPDXRef-base",
        versionInfo: "1.0",
        licenseConcluded: "MIT",
        downloadLocation: "NOASSERTION",
      },
    ],
  },
  "cyclonedx.json": {
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    components: [{ type: "library", name: "base", version: "1.0", licenses: [{ license: { id: "MIT" } }] }],
  },
};
