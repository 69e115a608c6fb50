/** Cases about attestations: predicates, payloads, counts, and referrers of the notary project. */

import { cosignVerify } from "./cosign.mjs";
import { asked, byKey, keyless, notary, pod, REFUSED, right } from "./short.mjs";

const SCAN = "https://example.com/scan/v1";
/** cosign's short names, and the predicate types that they stand for. */
export const TYPES = {
  slsaprovenance: "https://slsa.dev/provenance/v0.2",
  slsaprovenance1: "https://slsa.dev/provenance/v1",
  vuln: "https://cosign.sigstore.dev/attestation/vuln/v1",
  spdxjson: "https://spdx.dev/Document",
  cyclonedx: "https://cyclonedx.org/bom",
  custom: "https://cosign.sigstore.dev/attestation/v1",
  [SCAN]: SCAN,
};

const verified = (name = "scan", attestors = "[attestors.a]") =>
  `images.containers.all(i, verifyAttestationSignatures(i, '${name}', ${attestors}) > 0)`;

export function attestationCases({ image, keys, certificates }) {
  const ISSUER = "http://localhost:5056";
  const ci = keyless({ issuer: ISSUER, subject: "ci@example.org" });
  // Kyverno verifies no attestations in layers where the log is ignored.
  const byCosign = byKey(keys.cosign, { ctlog: undefined });
  const cases = [];
  const one = (id, name, spec, more) =>
    cases.push(
      asked(
        `attestation/${id}`,
        {
          attestors: [byCosign],
          attestations: [{ name: "scan", intoto: { type: SCAN } }],
          validations: [{ expression: verified(), message: "not attested" }],
          ...spec,
        },
        pod(image(name).tagged),
        more,
      ),
    );
  const judged = (attestor, name, type) => ({ cosign: [cosignVerify(attestor, image(name), { keys, type })] });

  for (const form of ["bundle", "legacy"]) {
    for (const [short, type] of Object.entries(TYPES)) {
      one(
        `${form}, key, ${short}`,
        `team/app:${form}-attested-key`,
        { attestations: [{ name: "scan", intoto: { type } }] },
        judged(byCosign, `team/app:${form}-attested-key`, type),
      );
      if (short !== type)
        one(
          `${form}, key, ${short} by its short name`,
          `team/app:${form}-attested-key`,
          { attestations: [{ name: "scan", intoto: { type: short } }] },
          judged(byCosign, `team/app:${form}-attested-key`, short),
        );
      one(
        `${form}, keyless, ${short}`,
        `team/app:${form}-attested-keyless`,
        { attestors: [ci], attestations: [{ name: "scan", intoto: { type } }] },
        judged(ci, `team/app:${form}-attested-keyless`, type),
      );
    }
    for (const type of [
      "https://in-toto.io/attestation/link/v0.3",
      "link",
      "",
      "https://example.com/scan/v2",
      "https://example.com/scan",
      SCAN.toUpperCase(),
    ])
      one(
        `${form}, wrong predicate ${type || "empty"}`,
        `team/app:${form}-attested-key`,
        { attestations: [{ name: "scan", intoto: { type } }] },
        type === "" ? REFUSED : {},
      );
    one(
      `${form}, other key`,
      `team/app:${form}-attested-key`,
      { attestors: [byKey(keys.other, { ctlog: undefined })] },
      judged(byKey(keys.other), `team/app:${form}-attested-key`, SCAN),
    );
    const offline = byKey(keys.cosign);
    one(
      `${form}, key, log ignored`,
      `team/app:${form}-attested-key`,
      { attestors: [offline] },
      {
        ...judged(offline, `team/app:${form}-attested-key`, SCAN),
        ...(form === "legacy" && right("unverified", "pass", "success")),
      },
    );
    one(`${form}, other identity`, `team/app:${form}-attested-keyless`, {
      attestors: [keyless({ issuer: ISSUER, subject: "dev@example.com" })],
    });
    one(`${form}, missing`, `team/app:${form}-key`, {});
    one(`${form}, signed and scanned`, `team/app:${form}-signed-scanned`, {});
    one(
      `${form}, attestation is no signature`,
      `team/app:${form}-attested-key`,
      {
        attestations: [],
        validations: [
          {
            expression: "images.containers.all(i, verifyImageSignatures(i, [attestors.a]) > 0)",
            message: "not signed",
          },
        ],
      },
      form === "bundle" ? right("weaker", "fail", "not signed") : {},
    );
    const github = keyless({ issuer: `${ISSUER}/github`, subjectRegExp: "^https://github.com/example/" });
    one(`${form}, of a workflow`, `team/app:${form}-attested-github`, {
      attestors: [github],
      attestations: [
        { name: "scan", intoto: { type: form === "bundle" ? TYPES.slsaprovenance1 : TYPES.slsaprovenance } },
      ],
    });
  }
  one("unsigned", "team/app:unsigned", {});
  one("attested only", "team/app:attested-only", {});
  one(
    "attested only is not signed",
    "team/app:attested-only",
    {
      validations: [
        { expression: "images.containers.all(i, verifyImageSignatures(i, [attestors.a]) > 0)", message: "not signed" },
      ],
    },
    right("weaker", "fail", "not signed"),
  );
  one("signed by one, attested by another", "team/app:mixed-keys", {});
  one("signed by one, attested by another, right keys", "team/app:mixed-keys", {
    attestors: [byCosign, byKey(keys.other, { name: "b" })],
    validations: [
      {
        expression: `images.containers.all(i, verifyImageSignatures(i, [attestors.a]) > 0) && ${verified("scan", "[attestors.b]")}`,
        message: "no",
      },
    ],
  });
  one(
    "signed by one, attested by another, swapped keys",
    "team/app:mixed-keys",
    {
      attestors: [byCosign, byKey(keys.other, { name: "b" })],
      validations: [
        {
          expression: `images.containers.all(i, verifyImageSignatures(i, [attestors.b]) > 0) || ${verified("scan", "[attestors.a]")}`,
          message: "no",
        },
      ],
    },
    right("weaker", "fail", "no"),
  );
  one("of an index", "team/multi:keyless", { attestors: [ci] });
  one("of an index, by digest", "team/multi:keyless", {
    attestors: [ci],
    validations: [
      {
        expression: `verifyAttestationSignatures('${image("team/multi:keyless").pinned}', 'scan', [attestors.a]) > 0`,
        message: "no",
      },
    ],
    validationConfigurations: { mutateDigest: false, verifyDigest: false, required: false },
  });
  one("of a vendor", "vendor/tool:signed", { attestors: [byKey(keys.other)] });

  // Payloads.
  const said = (id, condition, spec = {}, name = "team/app:bundle-signed-scanned", more = {}) =>
    one(
      `payload/${id}`,
      name,
      {
        validations: [{ expression: `${verified()} && images.containers.all(i, ${condition})`, message: "no" }],
        ...spec,
      },
      more,
    );
  const payload = "extractPayload(i, 'scan')";
  for (const [where, name] of [
    ["bundle", "team/app:bundle-signed-scanned"],
    ["layer", "team/app:legacy-signed-scanned"],
  ]) {
    said(`${where}, result`, `${payload}.predicate.result == 'passed'`, {}, name);
    said(`${where}, other result`, `${payload}.predicate.result == 'failed'`, {}, name);
    said(
      `${where}, numbers`,
      `${payload}.predicate.severities.critical == 0 && ${payload}.predicate.severities.high < 3`,
      {},
      name,
    );
    said(`${where}, type`, `${payload}.predicateType == '${SCAN}'`, {}, name);
    said(
      `${where}, statement`,
      `${payload}._type == 'https://in-toto.io/Statement/v0.1' || ${payload}._type == 'https://in-toto.io/Statement/v1'`,
      {},
      name,
    );
    said(`${where}, statement v0.1`, `${payload}._type == 'https://in-toto.io/Statement/v0.1'`, {}, name);
    said(`${where}, subject`, `${payload}.subject[0].digest.sha256 == '${image(name).digest.slice(7)}'`, {}, name);
    said(`${where}, missing field`, `${payload}.predicate.nothing == 1`, {}, name);
    said(`${where}, has`, `has(${payload}.predicate.at) && !has(${payload}.predicate.nothing)`, {}, name);
    said(`${where}, optional`, `${payload}.?predicate.?nothing.orValue('x') == 'x'`, {}, name);
    said(`${where}, number is an int`, `type(${payload}.predicate.severities.high) == int`, {}, name);
    said(`${where}, number is a double`, `type(${payload}.predicate.severities.high) == double`, {}, name);
    one(`payload/${where}, before verification`, name, {
      validations: [{ expression: `images.containers.all(i, ${payload}.predicate.result == 'passed')`, message: "no" }],
    });
    one(`payload/${where}, after a wrong key`, name, {
      attestors: [byKey(keys.other)],
      validations: [
        {
          expression: `images.containers.all(i, verifyAttestationSignatures(i, 'scan', [attestors.a]) >= 0 && ${payload}.predicate.result == 'passed')`,
          message: "no",
        },
      ],
    });
    one(`payload/${where}, verified by an earlier rule`, name, {
      validations: [
        { expression: verified(), message: "first" },
        { expression: `images.containers.all(i, ${payload}.predicate.result == 'passed')`, message: "second" },
      ],
    });
    one(`payload/${where}, verified by a later rule`, name, {
      validations: [
        { expression: `images.containers.all(i, ${payload}.predicate.result == 'passed')`, message: "second" },
        { expression: verified(), message: "first" },
      ],
    });
    one(`payload/${where}, in a message`, name, {
      validations: [
        {
          expression: `${verified()} && false`,
          messageExpression: `extractPayload(images.containers[0], 'scan').predicate.result`,
        },
      ],
    });
    one(`payload/${where}, in a variable`, name, {
      variables: [
        {
          name: "scans",
          expression: `images.containers.map(i, verifyAttestationSignatures(i, 'scan', [attestors.a]) > 0 ? ${payload}.predicate.result : 'none')`,
        },
      ],
      validations: [{ expression: "variables.scans == ['passed']", message: "no" }],
    });
    one(`payload/${where}, in an annotation`, name, {
      auditAnnotations: [
        { key: "scan", valueExpression: "extractPayload(images.containers[0], 'scan').predicate.scanner" },
      ],
    });
  }
  for (const form of ["bundle", "legacy"])
    for (const short of ["slsaprovenance1", "custom", "vuln"])
      said(
        `${form}, by the short name ${short}`,
        "has(extractPayload(i, 'scan').predicate)",
        { attestations: [{ name: "scan", intoto: { type: short } }] },
        `team/app:${form}-attested-key`,
        right("unverified", "pass", "success"),
      );
  said("failed scan", `${payload}.predicate.result == 'passed'`, {}, "team/app:bundle-signed-failed");
  for (const [name, type, condition] of [
    [
      "slsa",
      TYPES.slsaprovenance1,
      "extractPayload(i, 'scan').predicate.runDetails.builder.id == 'https://example.org/builder'",
    ],
    [
      "slsa source",
      TYPES.slsaprovenance1,
      "extractPayload(i, 'scan').predicate.buildDefinition.externalParameters.repository.startsWith('https://github.com/example/')",
    ],
    [
      "slsa v0.2",
      TYPES.slsaprovenance,
      "extractPayload(i, 'scan').predicate.builder.id == 'https://example.org/builder'",
    ],
    [
      "cyclonedx",
      TYPES.cyclonedx,
      "extractPayload(i, 'scan').predicate.components.all(c, c.licenses.all(l, l.license.id in ['MIT', 'Apache-2.0']))",
    ],
    ["spdx", TYPES.spdxjson, "extractPayload(i, 'scan').predicate.packages.exists(p, p.licenseConcluded == 'MIT')"],
    ["vuln", TYPES.vuln, "size(extractPayload(i, 'scan').predicate.scanner.result.vulnerabilities) == 0"],
    ["custom", TYPES.custom, "extractPayload(i, 'scan').predicate.Data != ''"],
  ])
    for (const form of ["bundle", "legacy"])
      said(
        `${form}, ${name}`,
        condition,
        { attestations: [{ name: "scan", intoto: { type } }] },
        `team/app:${form}-attested-key`,
      );

  // Names and counts.
  one("unknown name", "team/app:bundle-signed-scanned", {
    validations: [{ expression: verified("sbom"), message: "no" }],
  });
  one("name by the variable", "team/app:bundle-signed-scanned", {
    validations: [
      {
        expression: "images.containers.all(i, verifyAttestationSignatures(i, attestations.scan, [attestors.a]) > 0)",
        message: "no",
      },
    ],
  });
  one("payload of an unknown name", "team/app:bundle-signed-scanned", {
    validations: [{ expression: "images.containers.all(i, extractPayload(i, 'sbom').x == 1)", message: "no" }],
  });
  one("two attestations", "team/app:bundle-attested-key", {
    attestations: [
      { name: "scan", intoto: { type: SCAN } },
      { name: "sbom", intoto: { type: TYPES.cyclonedx } },
    ],
    validations: [
      {
        expression: `${verified()} && ${verified("sbom")} && images.containers.all(i, extractPayload(i, 'scan').predicate.result == 'passed' && extractPayload(i, 'sbom').predicate.bomFormat == 'CycloneDX')`,
        message: "no",
      },
    ],
  });
  one("count of two attestors", "team/app:bundle-signed-scanned", {
    attestors: [byCosign, byKey(keys.other, { name: "b" })],
    validations: [
      {
        expression: "images.containers.all(i, verifyAttestationSignatures(i, 'scan', [attestors.a, attestors.b]) == 1)",
        message: "no",
      },
    ],
  });
  one("count of the same attestor twice", "team/app:bundle-signed-scanned", {
    validations: [
      {
        expression: "images.containers.all(i, verifyAttestationSignatures(i, 'scan', [attestors.a, attestors.a]) == 2)",
        message: "no",
      },
    ],
  });
  one("no attestors", "team/app:bundle-signed-scanned", {
    validations: [
      { expression: "images.containers.all(i, verifyAttestationSignatures(i, 'scan', []) == 0)", message: "no" },
    ],
    validationConfigurations: { mutateDigest: false, verifyDigest: false, required: false },
  });
  one("an image beside the references", "team/app:bundle-signed-scanned", {
    matchImageReferences: [{ glob: "x/*" }],
    validations: [
      {
        expression: `verifyAttestationSignatures('${image("team/app:bundle-signed-scanned").tagged}', 'scan', [attestors.a]) == 0`,
      },
    ],
  });
  one("an image beside the references, unknown name", "team/app:bundle-signed-scanned", {
    matchImageReferences: [{ glob: "x/*" }],
    validations: [
      {
        expression: `verifyAttestationSignatures('${image("team/app:bundle-signed-scanned").tagged}', 'sbom', [attestors.a]) == 0`,
      },
    ],
  });
  one("neither intoto nor referrer", "team/app:bundle-signed-scanned", { attestations: [{ name: "scan" }] }, REFUSED);
  one(
    "both intoto and referrer",
    "team/app:bundle-signed-scanned",
    { attestations: [{ name: "scan", intoto: { type: SCAN }, referrer: { type: "x" } }] },
    REFUSED,
  );
  one(
    "the same name twice",
    "team/app:bundle-signed-scanned",
    {
      attestations: [
        { name: "scan", intoto: { type: "x" } },
        { name: "scan", intoto: { type: SCAN } },
      ],
    },
    REFUSED,
  );
  one("counts as evidence", "team/app:bundle-signed-scanned", {
    validationConfigurations: { mutateDigest: false, verifyDigest: false, required: true },
  });

  // The notary project: referrers.
  const trust = notary(certificates["notation-root"]);
  const SBOM = "application/vnd.cyclonedx+json";
  const referrer = [{ name: "scan", referrer: { type: SBOM } }];
  for (const name of ["notation-sbom", "notation-sbom-unsigned", "notation-sbom-other", "notation-p256"]) {
    one(`referrer/${name}`, `vendor/tool:${name}`, { attestors: [trust], attestations: referrer });
    one(`referrer/${name}, payload`, `vendor/tool:${name}`, {
      attestors: [trust],
      attestations: referrer,
      validations: [
        {
          expression: `${verified()} && images.containers.all(i, extractPayload(i, 'scan').bomFormat == 'CycloneDX')`,
          message: "no",
        },
      ],
    });
    one(`referrer/${name}, payload before verification`, `vendor/tool:${name}`, {
      attestors: [trust],
      attestations: referrer,
      validations: [
        { expression: "images.containers.all(i, extractPayload(i, 'scan').bomFormat == 'CycloneDX')", message: "no" },
      ],
      validationConfigurations: { mutateDigest: false, verifyDigest: false, required: false },
    });
  }
  one("referrer/another type", "vendor/tool:notation-sbom", {
    attestors: [trust],
    attestations: [{ name: "scan", referrer: { type: "application/spdx+json" } }],
  });
  one("referrer/by a key of cosign", "vendor/tool:notation-sbom", { attestations: referrer });
  one("referrer/notary and intoto", "vendor/tool:notation-sbom", { attestors: [trust] });
  one("referrer/the signature itself", "vendor/tool:notation-p256", {
    attestors: [trust],
    attestations: [{ name: "scan", referrer: { type: "application/vnd.cncf.notary.signature" } }],
  });
  return cases;
}
