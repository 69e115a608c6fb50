import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { KubernetesVersion } from "../../../src/cel/index.js";
import { createServer } from "../../../src/kinds/admission-policy/server.js";
import { createMutationCompilers } from "../../../src/kinds/mutating-admission-policy/compilers.js";
import {
  checkPolicy as checkMutating,
  readDocument as readMutating,
} from "../../../src/kinds/mutating-admission-policy/read.js";
import { createExpressionCompiler } from "../../../src/kinds/validating-admission-policy/index.js";
import { readDocument } from "../../../src/kinds/validating-admission-policy/read.js";
import { prepare } from "../validating-admission-policy/prepared.js";

const GROUP = "admissionregistration.k8s.io";

const policy = (expression: string, apiVersion = "v1", name = "p") => ({
  apiVersion: `${GROUP}/${apiVersion}`,
  kind: "ValidatingAdmissionPolicy",
  metadata: { name },
  spec: {
    matchConstraints: {
      resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
    },
    validations: [{ expression }],
  },
});

function problemsOn(version: KubernetesVersion | undefined, value: unknown): string[] {
  const server = version && createServer(version, createExpressionCompiler);
  const { problems } = prepare([value], server && { server });
  // The examples are always true, which is warned of.
  const about = problems.filter(({ message }) => !message.startsWith("this is true whatever"));
  return about.map(({ severity, message }) => `${severity}: ${message}`);
}

/** The first server that takes an expression, by the source of the API server's libraries: the one after the version that has them. */
const FIRST: Readonly<Record<string, KubernetesVersion>> = {
  "optional.of(true).value()": "1.29",
  "quantity('1').isInteger()": "1.29",
  "sets.contains([1], [1])": "1.30",
  "'%s'.format(['x']) == 'x'": "1.30",
  "ip('::1').family() == 6": "1.31",
  "cidr('10.0.0.0/8').prefixLength() == 8": "1.31",
  "!format.dns1123Label().validate('x').hasValue()": "1.32",
  "authorizer.group('').resource('pods').fieldSelector('a=b').check('get').allowed()": "1.32",
  "[1].all(i, v, v > i)": "1.33",
  "isSemver('1.0.0')": "1.34",
  "[2, 1].sort() == [1, 2]": "1.35",
  "object.`a-b` == 1": "1.37",
};
const VERSIONS = ["1.28", "1.29", "1.30", "1.31", "1.32", "1.33", "1.34", "1.35", "1.36", "1.37"] as const;

describe("a server takes in new policies what the version before it knows", () => {
  for (const [expression, first] of Object.entries(FIRST)) {
    test(expression, () => {
      for (const version of VERSIONS) {
        const apiVersion = version === "1.28" || version === "1.29" ? "v1beta1" : "v1";
        const [problem, ...more] = problemsOn(version, policy(expression, apiVersion));
        assert.deepEqual(more, []);
        if (Number(version.slice(2)) >= Number(first.slice(2))) assert.equal(problem, undefined, version);
        else assert.ok(problem?.endsWith(`\nKubernetes takes this in new policies from ${first} on`), problem);
      }
    });
  }

  test("and says nothing of versions where a mistake is one everywhere", () => {
    assert.match(problemsOn("1.34", policy("nope()"))[0] ?? "", /undeclared reference to 'nope'.*\n.*\n.*\^$/);
    assert.match(problemsOn("1.34", policy(""))[0] ?? "", /expression is not specified$/);
  });

  test("and of what is new in the newest, when it will", () => {
    assert.match(problemsOn("1.37", policy("[1].includes(1)"))[0] ?? "", /from 1\.38 on$/);
    assert.deepEqual(problemsOn(undefined, policy("[1].includes(1)")), []);
  });
});

test("mutations are expressions, too", () => {
  const { spec, ...rest } = policy("true");
  const { validations, ...common } = spec;
  const mutating = {
    ...rest,
    kind: "MutatingAdmissionPolicy" as const,
    spec: {
      ...common,
      reinvocationPolicy: "Never",
      mutations: validations.map(() => ({
        patchType: "JSONPatch",
        jsonPatch: { expression: "[2, 1].sort().map(i, JSONPatch{op: 'remove', path: string(i)})" },
      })),
    },
  };
  const found = (version: KubernetesVersion): readonly string[] => {
    const read = readMutating(mutating);
    if (read.kind !== "policy") throw new Error(read.kind);
    const server = createServer(version, createMutationCompilers);
    return checkMutating(read.resource, server.compiler("1.37"), server).errors.map(({ text }) => text);
  };
  assert.match(
    found("1.34")[0] ?? "",
    /undeclared reference to 'sort'(?:.|\n)*\nKubernetes takes this in new policies from 1\.35 on$/,
  );
  assert.deepEqual(found("1.35"), []);
});

describe("a server has some versions of the API", () => {
  const served: readonly (readonly [KubernetesVersion, ...string[]])[] = [
    ["1.28", "v1beta1", "v1alpha1"],
    ["1.29", "v1beta1", "v1alpha1"],
    ["1.30", "v1", "v1beta1", "v1alpha1"],
    ["1.31", "v1", "v1beta1", "v1alpha1"],
    ["1.32", "v1", "v1beta1"],
    ["1.33", "v1", "v1beta1"],
    ["1.34", "v1"],
    ["1.37", "v1"],
  ];
  for (const [version, ...names] of served) {
    test(`${version} has ValidatingAdmissionPolicies in ${names.join(", ")}`, () => {
      for (const name of ["v1", "v1beta1", "v1alpha1"]) {
        const { kind } = readDocument(policy("true", name), version);
        assert.equal(kind, names.includes(name) ? "policy" : "unreadable", name);
      }
    });
  }

  test("and says which", () => {
    assert.deepEqual(problemsOn("1.36", policy("true", "v1beta1")), [
      `error: no matches for kind "ValidatingAdmissionPolicy" in version "${GROUP}/v1beta1", which is in Kubernetes 1.28 to 1.33: 1.36 has v1`,
    ]);
    const mutating = { ...policy("true", "v1"), kind: "MutatingAdmissionPolicy" };
    const read = readMutating(mutating, "1.31");
    assert.equal(
      read.kind === "unreadable" && read.message,
      `no matches for kind "MutatingAdmissionPolicy" in version "${GROUP}/v1", which is in Kubernetes from 1.36 on: 1.31 has no version of it`,
    );
    assert.equal(readMutating({ ...mutating, apiVersion: `${GROUP}/v1beta1` }, "1.34").kind, "unreadable");
  });

  test("but whoever names no server may write any", () => {
    assert.deepEqual(problemsOn(undefined, policy("true", "v1alpha1")), []);
  });
});

test("names like those of static manifests are an error from 1.37 on, a warning in 1.36", () => {
  const named = policy("true", "v1", "x.static.k8s.io");
  assert.match(problemsOn("1.37", named)[0] ?? "", /^error: Invalid value: "x\.static\.k8s\.io"/);
  assert.match(problemsOn("1.36", named)[0] ?? "", /^warning: metadata\.name: names ending with/);
  assert.deepEqual(problemsOn("1.35", named), []);
});
