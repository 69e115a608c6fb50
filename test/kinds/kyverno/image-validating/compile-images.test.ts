/** The parts of ImageValidatingPolicies are compiled in Kyverno's order, and attestors take the values of their expressions. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { compilePolicy } from "../../../../src/kinds/kyverno/compile.js";
import { createCompilers } from "../../../../src/kinds/kyverno/dialect.js";
import type { CompiledImages } from "../../../../src/kinds/kyverno/image-validating/compiled-images.js";
import type { PolicySpec } from "../../../../src/kinds/kyverno/resource.js";
import { formatFieldError, formatPath } from "../../../../src/kubernetes/field-error.js";
import { policy } from "../asked.js";

const compilers = createCompilers();
const compiled = (spec: PolicySpec) =>
  compilePolicy(
    { ...policy({ attestors: [], validations: [], ...spec }), kind: "ImageValidatingPolicy" },
    [],
    compilers,
  );
const mistakes = (spec: PolicySpec): string => {
  const made = compiled(spec);
  return made.ok ? "" : made.errors.map(formatFieldError).join("; ");
};
function imagesOf(spec: PolicySpec): CompiledImages {
  const made = compiled(spec);
  assert.ok(made.ok, JSON.stringify(made));
  const images = made.policy.variants[0]?.images;
  assert.ok(images !== undefined);
  return images;
}

describe("an attestor", () => {
  test("has the values of its expressions in the places of these", () => {
    const [attestor, other] = imagesOf({
      variables: [{ name: "k", expression: "'key'" }],
      attestors: [
        {
          name: "a",
          cosign: {
            key: { expression: "variables.k", hashAlgorithm: "sha512" },
            keyless: { identities: [{ issuer: "i", subjectExpression: "'s'" }], additionalExtensions: { value: "x" } },
            certificate: { cert: { value: "c" }, certChain: { expression: "object.chain" } },
            annotations: { expression: "1", value: "2" },
            trustedRoot: { expression: "'root'" },
          },
        },
        { name: "b", notary: { certs: { expression: "'c'" }, tsaCerts: { value: "t" } } },
      ],
    }).attestors;
    assert.deepEqual(attestor?.paths.map(formatPath), [
      "spec.attestors[0].cosign.key.expression",
      "spec.attestors[0].cosign.keyless.identities[0].subjectExpression",
      "spec.attestors[0].cosign.certificate.certChain.expression",
      "spec.attestors[0].cosign.trustedRoot.expression",
    ]);
    assert.deepEqual(attestor.with(["K", "S", "C", "R"]), {
      name: "a",
      cosign: {
        key: { data: "K", hashAlgorithm: "sha512" },
        keyless: { identities: [{ issuer: "i", subjectRegExp: "S" }], additionalExtensions: { value: "x" } },
        certificate: { cert: "c", certChain: "C" },
        annotations: { expression: "1", value: "2" },
        trustedRoot: "R",
      },
    });
    assert.deepEqual(other?.with(["N"]), { name: "b", notary: { certs: "N", tsaCerts: "t" } });
  });

  test("is the same object each time where it has no expressions, and has no empty texts", () => {
    const cosign = { key: { data: "K", hashAlgorithm: "" }, ctlog: { rekorPubKey: "", insecureIgnoreTlog: true } };
    const [attestor] = imagesOf({ attestors: [{ name: "a", cosign }] }).attestors;
    assert.equal(attestor?.with([]), attestor?.with([]));
    assert.deepEqual(attestor?.with([]).cosign, { key: { data: "K" }, ctlog: { insecureIgnoreTlog: true } });
  });

  test("has expressions that give texts", () => {
    const of = (expression: string) => mistakes({ attestors: [{ name: "a", cosign: { key: { expression } } }] });
    assert.equal(of("object.key"), "");
    assert.match(of("1"), /^spec\.attestors\[0\]\.cosign\.key\.expression: .* expected to be of type string$/);
  });
});

describe("the parts of a policy", () => {
  const variables = [{ name: "v", expression: "['a']" }];
  const v = [{ name: "x", expression: "variables.v" }];

  test("see the variables where those are compiled before", () => {
    assert.match(mistakes({ variables, images: v }), /undefined field 'v'/);
    assert.match(mistakes({ variables, matchConditions: v }), /undefined field 'v'/);
    const key = { expression: "variables.v[0]" };
    assert.equal(mistakes({ variables, attestors: [{ name: "a", cosign: { key } }] }), "");
    assert.equal(mistakes({ variables, validations: [{ expression: "variables.v == ['a']" }] }), "");
  });

  test("end with the first mistake, except matchImageReferences", () => {
    const wrong = [{ name: "x", expression: "1" }];
    assert.equal(mistakes({ images: [...wrong, ...wrong], validations: [{ expression: "1" }] }).split("; ").length, 1);
    const matchImageReferences = [{ glob: "a[" }, { expression: "object" }, { expression: "ref == 'a'" }];
    assert.equal(mistakes({ matchImageReferences, images: wrong }).split("; ").length, 2);
  });

  test("see only `object` in the mode JSON, and there are no variables", () => {
    const evaluation = { mode: "JSON" };
    for (const name of ["request", "oldObject", "namespaceObject", "variables"])
      assert.match(mistakes({ evaluation, variables, validations: [{ expression: `${name} == null` }] }), /undeclared/);
    assert.equal(mistakes({ evaluation, images: [{ name: "x", expression: "object.images" }] }), "");
    const expression = "images.x.all(i, verifyImageSignatures(i, [attestors.a]) > 0) && resource != null";
    assert.match(mistakes({ evaluation, validations: [{ expression }] }), /^$|no matching overload/);
  });

  test("have matchers, extractors, attestations and access", () => {
    const images = imagesOf({
      matchImageReferences: [{ glob: "a*" }, { expression: "parseImageReference(ref).registry() == 'x'" }],
      images: [{ name: "x", expression: "[object.a]" }],
      attestations: [
        { name: "s", intoto: { type: "p" } },
        { name: "r", referrer: { type: "a" } },
      ],
      credentials: { allowInsecureRegistry: true, secrets: ["s"], providers: ["default"] },
      validationConfigurations: { required: false },
    });
    assert.equal(images.matchers.length, 2);
    assert.deepEqual([...images.extractors.keys()], ["x"]);
    assert.deepEqual(Object.fromEntries(images.attestations), {
      s: { kind: "intoto", predicateType: "p" },
      r: { kind: "referrer", artifactType: "a" },
    });
    assert.deepEqual(images.access, { insecure: true, secrets: ["s"] });
    assert.deepEqual([images.mutateDigest, images.verifyDigest, images.required], [true, true, false]);
  });

  test("don't have functions that Kyverno leaves out of this kind", () => {
    const of = (expression: string) => mistakes({ validations: [{ expression }] });
    for (const expression of ["x509.decode('') == 1", "exceptions.allowedImages == []"])
      assert.match(of(expression), /undeclared reference/, expression);
    assert.match(of("'a'.orValue('b') == 'a'"), /found no matching overload/);
    assert.equal(of("object.?a.orValue(1) == 1 && getImageData('a').b == extractPayload('a', 'b').c"), "");
  });
});
