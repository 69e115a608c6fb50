/** What is refused when an ImageValidatingPolicy is loaded; the released program's own answers are in policies.jsonl. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { autogenOf, autogenStatus } from "../../../../src/kinds/kyverno/autogen/autogen.js";
import { checkPolicy, checkTexts, policyWarnings } from "../../../../src/kinds/kyverno/check-policy.js";
import { compileMistakes, compilePolicy } from "../../../../src/kinds/kyverno/compile.js";
import { createCompilers } from "../../../../src/kinds/kyverno/dialect.js";
import { preparePolicies } from "../../../../src/kinds/kyverno/prepare-policies.js";
import type { PolicyResource, PolicySpec, WrittenAttestor } from "../../../../src/kinds/kyverno/resource.js";
import { formatFieldError } from "../../../../src/kubernetes/field-error.js";

interface Golden {
  readonly name: string;
  readonly policy: PolicyResource;
  readonly errors?: readonly string[];
  readonly autogen?: object;
}
const file = new URL("../../../../../test/fixtures/image-policies/policies.jsonl", import.meta.url);
const GOLDEN: readonly Golden[] = readFileSync(file, "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line));

/** What Kyverno accepts and then fails with, or ignores. */
const REFUSED_HERE = new Set(["attestors", "attestor int", "subject", "mode"]);

const compilers = createCompilers();
const KEY = `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE6QsNef3SKYhJVYSVj+ZfbPwJd0pv
DLYNHXITZkhIzfE+apcxDjCCkDPcJ3A3zvhPATYOIsCxYPch7Q2JdJLsDQ==
-----END PUBLIC KEY-----`;
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBbjCCARWgAwIBAgIUBn7hRhqixl57xwhYfHLdiJNFmC4wCgYIKoZIzj0EAwIw
DDEKMAgGA1UEAwwBdDAgFw0yNjExMzAwMzQyNTJaGA8yMTI2MTEwNjAzNDI1Mlow
DDEKMAgGA1UEAwwBdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABGtc2K5tsPli
iGGyD877u7kfGhlkJMhqbM858dFD0NDhjCSq+xGluHDarkYBbLDAGwXgTXUpsL4j
u1ReoXWKsEijUzBRMB0GA1UdDgQWBBTDMzIOUA9qJmpCV86jrUJtGrb8+TAfBgNV
HSMEGDAWgBTDMzIOUA9qJmpCV86jrUJtGrb8+TAPBgNVHRMBAf8EBTADAQH/MAoG
CCqGSM49BAMCA0cAMEQCIE+U7awbGO3WIpLFJMP9AUw+4gs7P9JTdwDr0DJqzFtm
AiALtXXzrgRiMh4U+yh2hHLBpSLczyrLRooDCnT50IhKKw==
-----END CERTIFICATE-----`;
const DEV: WrittenAttestor = { name: "dev", cosign: { key: { data: KEY } } };

const policy = (spec: PolicySpec): PolicyResource => ({
  apiVersion: "policies.kyverno.io/v1",
  kind: "ImageValidatingPolicy",
  metadata: { name: "p" },
  spec: {
    matchConstraints: {
      resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
    },
    attestors: [DEV],
    validations: [],
    ...spec,
  },
});
const refused = (spec: PolicySpec): readonly string[] => checkPolicy(policy(spec)).map(formatFieldError);
type Cosign = NonNullable<WrittenAttestor["cosign"]>;
const cosign = (signer: Cosign): readonly string[] => refused({ attestors: [{ name: "dev", cosign: signer }] });
const warned = (spec: PolicySpec): readonly string[] => policyWarnings(policy(spec)).map(formatFieldError);

describe("an ImageValidatingPolicy", () => {
  test("is refused where the released program refuses it, mostly in its words", () => {
    let same = 0;
    for (const { name, policy: resource, errors = [] } of GOLDEN) {
      const ours = checkTexts(resource, compileMistakes(resource, compilers));
      if (JSON.stringify(ours) === JSON.stringify(errors)) same++;
      else assert.equal(errors.length > 0, !REFUSED_HERE.has(name), `${name}: ${ours.join()}`);
      assert.equal(ours.length > 0, errors.length > 0 || REFUSED_HERE.has(name), name);
    }
    assert.ok(same >= GOLDEN.length - 9, String(same));
  });

  test("has the variants for pod controllers that the released program makes", () => {
    const some = GOLDEN.filter(({ autogen }) => autogen !== undefined);
    // The reference keeps the old key of an annotation beside the new one.
    for (const { name, policy: resource, autogen } of some.filter(({ name }) => name !== "attestors"))
      assert.deepEqual(JSON.parse(JSON.stringify(autogenStatus(autogenOf(resource.spec)) ?? {})), autogen, name);
    assert.ok(some.length >= 10);
  });
});

describe("what is not served", () => {
  test("is an error for apply and test, too, in which a policy is not checked otherwise", () => {
    const kms = policy({ attestors: [{ name: "a", cosign: { key: { kms: "awskms://x" } } }] });
    const { policies, failures } = preparePolicies([kms, policy({})], [], { compilers });
    assert.equal(policies.length, 1);
    assert.match(
      failures[0]?.text ?? "",
      /^failed to compile policy p \(spec\.attestors\[0\]\.cosign\.key\.kms: not served/,
    );
  });
});

describe("an attestor", () => {
  test("that is not served is refused with what to write instead", () => {
    const key = { data: KEY };
    assert.match(cosign({ key: { kms: "awskms://x" } }).join(), /key\.kms: .* write the public key into data/);
    assert.match(
      cosign({ key, tuf: {} }).join(),
      /tuf: .* trustedRoot, or start the server with --sigstore-trust-config/,
    );
    assert.match(
      cosign({ key, source: { PullSecrets: [{ name: "a" }] } }).join(),
      /PullSecrets: .* spec\.credentials\.secrets/,
    );
    assert.match(
      refused({ credentials: { providers: ["default", "google"] } }).join(),
      /^spec\.credentials\.providers\[1\]: google is not served: .*DOCKER_CONFIG/,
    );
  });

  test("has one signer", () => {
    assert.match(cosign({}).join(), /cosign: write one of key, keyless and certificate/);
    assert.match(cosign({ key: { data: KEY }, keyless: { identities: [] } }).join(), /only one of key/);
    assert.match(cosign({ key: {} }).join(), /key: write one of data and expression/);
    assert.match(cosign({ key: { data: KEY, expression: "'a'" } }).join(), /key: write one of data and expression/);
    assert.match(cosign({ certificate: {} }).join(), /certificate: write cert, certChain or both/);
    assert.match(refused({ attestors: [{ name: "n", notary: {} }] }).join(), /notary: write certs/);
  });

  test("has keys and certificates that can be read", () => {
    assert.deepEqual(cosign({ key: { data: `\n# ours\n${KEY}\n`, hashAlgorithm: "sha384" } }), []);
    const certificate = { cert: { value: CERTIFICATE }, certChain: { value: `${CERTIFICATE}\n${CERTIFICATE}` } };
    assert.deepEqual(cosign({ certificate, ctlog: { url: "x", rekorPubKey: KEY, tsaCertChain: CERTIFICATE } }), []);
    assert.match(cosign({ key: { data: "abc" } }).join(), /key\.data: it must be a public key in PEM, and has no PEM/);
    const secret = KEY.replaceAll("PUBLIC", "PRIVATE");
    assert.match(cosign({ key: { data: secret } }).join(), /has a block "PRIVATE KEY"$/);
    assert.match(cosign({ key: { data: KEY.replace("MFkw", "AAAA") } }).join(), /the public key can't be read/);
    assert.match(
      cosign({ key: { data: KEY, hashAlgorithm: "md5" } }).join(),
      /hashAlgorithm: known are sha224, sha256/,
    );
    const [cert, none] = [{ value: CERTIFICATE.replace("MII", "AAA") }, { value: KEY }];
    assert.match(cosign({ certificate: { cert } }).join(), /certificate\.cert\.value: certificate 1 can't be read/);
    assert.match(
      cosign({ certificate: { certChain: none } }).join(),
      /certChain\.value: it must be certificates in PEM/,
    );
    assert.match(
      cosign({ keyless: { identities: [{ issuer: "a" }], roots: KEY } }).join(),
      /keyless\.roots: it must be/,
    );
    for (const member of ["rekorPubKey", "ctLogPubKey", "tsaCertChain"])
      assert.match(cosign({ key: { data: KEY }, ctlog: { [member]: "x" } }).join(), new RegExp(`ctlog\\.${member}: `));
    const notary = { certs: { value: "x" }, tsaCerts: { value: "y" } };
    assert.equal(refused({ attestors: [{ name: "n", notary }] }).length, 2);
    assert.equal(refused({ attestors: [{ name: "n", notary: { certs: { value: "" } } }] }).length, 1);
    assert.match(
      cosign({ key: { data: KEY }, trustedRoot: { value: "{}" } }).join(),
      /must be a trusted root of Sigstore/,
    );
  });

  test("has identities that say something, with regular expressions that compile", () => {
    const identity = (each: object) => cosign({ keyless: { identities: [each] } }).join();
    assert.equal(identity({ issuerRegExp: "^https://.*$", subject: "a" }), "");
    assert.match(
      identity({ issuerRegExp: "(" }),
      /identities\[0\]\.issuerRegExp: error parsing regexp: missing closing/,
    );
    assert.match(identity({ subjectRegExp: "a(?=b)" }), /subjectRegExp: error parsing regexp/);
    assert.match(identity({}), /names neither an issuer nor a subject/);
    assert.match(
      identity({ subjectExpression: "'a'", subjectRegExp: "a" }),
      /one of subjectExpression and subjectRegExp/,
    );
  });

  test("has a name of its own, as an attestation has, which has one type", () => {
    assert.match(refused({ attestors: [DEV, DEV] }).join(), /attestors\[1\]\.name: "dev" is there already/);
    assert.match(refused({ attestors: [{ ...DEV, name: "" }] }).join(), /attestors\[0\]\.name: a name is needed/);
    const attested = (...attestations: NonNullable<PolicySpec["attestations"]>) => refused({ attestations }).join();
    assert.equal(attested({ name: "a", intoto: { type: "t" } }, { name: "b", referrer: { type: "t" } }), "");
    assert.match(attested({ name: "a" }), /attestations\[0\]: write one of intoto and referrer/);
    assert.match(attested({ name: "a", intoto: { type: "" } }), /attestations\[0\]\.intoto\.type: the type is empty/);
  });

  test("warns where Kyverno verifies nothing, or everything", () => {
    assert.deepEqual(warned({}), []);
    const of = (signer: Cosign) => warned({ attestors: [{ name: "a", cosign: signer }] }).join();
    assert.match(of({ ctlog: { insecureIgnoreSCT: true } }), /without a url Kyverno verifies nothing/);
    assert.equal(of({ ctlog: { insecureIgnoreTlog: true } }), "");
  });
});

describe("names in expressions", () => {
  const undeclared = (spec: PolicySpec): readonly string[] => {
    const compiled = compilePolicy(policy(spec), [], compilers);
    assert.ok(compiled.ok, JSON.stringify(compiled));
    return (compiled.policy.variants[0]?.images?.undeclared ?? []).map(formatFieldError);
  };

  test("that are not declared are told with the known ones", () => {
    const expression = "images.container.all(i, verifyImageSignatures(i, [attestors.dve]) > 0) && attestations.x == ''";
    assert.deepEqual(undeclared({ validations: [{ expression }] }), [
      'spec.validations[0].expression: images has no container (did you mean "containers"?): known are containers, initContainers, ephemeralContainers',
      'spec.validations[0].expression: attestors has no dve (did you mean "dev"?): known are dev',
      "spec.validations[0].expression: attestations has no x: there are none",
    ]);
    const variables = [{ name: "v", expression: "images.none" }];
    assert.match(undeclared({ variables }).join(), /^spec\.variables\[0\]\.expression: images has no none/);
  });

  test("are fine where they are declared", () => {
    const images = [{ name: "mine", expression: "object.images" }];
    const expression = "images.mine.all(i, verifyImageSignatures(i, [attestors.dev]) > 0)";
    assert.deepEqual(undeclared({ images, validations: [{ expression }] }), []);
  });
});
