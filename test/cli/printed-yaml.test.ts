/** Every command that prints YAML: read back by Kubernetes' rules, YAML 1.1 and 1.2 it is what the same command prints as JSON. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, describe, test } from "node:test";
import { parseAllDocuments } from "yaml";
import { runCommandLine } from "../../src/cli/command-line.js";
import { sameValue } from "../../src/data/same-value.js";
import { parseYamlDocuments } from "../../src/data/yaml.js";
import { configMap, without } from "../cluster/audit/support.js";
import { FakeApiServer } from "../kubernetes/client/fake-api-server.js";
import { emptyModule } from "../support/empty-module.js";

const folder = mkdtempSync(join(tmpdir(), "printed-"));
after(() => rmSync(folder, { recursive: true }));
const write = (name: string, content: unknown): string => {
  const file = join(folder, name);
  writeFileSync(file, content instanceof Uint8Array || typeof content === "string" ? content : JSON.stringify(content));
  return file;
};

async function run(...args: readonly string[]): Promise<string> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const io = { env: { KUBECONFIG: join(folder, "none") }, stdin: Readable.from([]), stdout, stderr };
  const out = text(stdout);
  stderr.resume();
  await runCommandLine(args, io);
  stdout.end();
  return out;
}

/** What is misread by one reader or another, as keys of labels and values can be. */
const WORDS =
  "on off yes no y n Y N true null ~ = << 0777 0o7 0x1F 0b1 1_000 1:30 1e3 1e400 .5 .inf .nan 2001-12-14".split(" ");
const ODD = [
  "a\u0085b",
  "a\u2028b",
  "a\u007fb",
  "\ufeffa",
  "a\u202eb",
  "a\rb",
  "a\tb",
  " a ",
  "a\n  b\n\n",
  "\ta\nb",
  "- a: #b",
  "a".repeat(2_000),
  "é".repeat(130),
];
/** Those that can be labels. */
const VALID = WORDS.filter((word) => /^[A-Za-z\d](?:[\w.-]*[A-Za-z\d])?$/.test(word));
const labels = Object.fromEntries(WORDS.map((word) => [word, word]));
const odd = Object.fromEntries(ODD.map((each) => [each.slice(0, 140), each]));
const object = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "on", namespace: "y", labels, annotations: odd },
  data: { ...labels, ...odd },
};
const objects = write("objects.json", object);
const rules = {
  resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
};

function assertSame(yaml: string, json: unknown, what = "documents"): void {
  const readers: Readonly<Record<string, () => readonly unknown[]>> = {
    Kubernetes: () => parseYamlDocuments(yaml),
    "YAML 1.2": () => parseAllDocuments(yaml).map((document) => (document as { toJS(): unknown }).toJS()),
    "YAML 1.1": () =>
      parseAllDocuments(yaml, { version: "1.1" }).map((document) => (document as { toJS(): unknown }).toJS()),
  };
  assert.ok(yaml.length > 100, yaml);
  for (const [reader, read] of Object.entries(readers))
    assert.ok(sameValue(read(), json), `${reader}: ${what}:\n${yaml}`);
}

/** Answers take their time. */
const untimed = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, item: unknown) => (key === "milliseconds" || key === "timestamp" ? undefined : item)),
  );
const withoutTimes = (yaml: string): string =>
  yaml.replace(/^ *(?:milliseconds|seconds|nanos): .*\n/gm, "").replace(/^ *timestamp:\n/gm, "");

describe("read back, what is printed as YAML is what is printed as JSON", () => {
  test("webhooks: selectors, match conditions", async () => {
    const spec = {
      matchConstraints: {
        ...rules,
        objectSelector: { matchLabels: Object.fromEntries(VALID.map((word) => [word, word])) },
        namespaceSelector: { matchExpressions: VALID.map((key) => ({ key, operator: "In", values: VALID })) },
      },
      matchConditions: [...WORDS, ...ODD].map((each, index) => ({
        name: `c${index}`,
        expression: `object.x != ${JSON.stringify(each)}`,
      })),
      validations: [{ expression: "true" }],
    };
    for (const word of ["on", "y", "no"]) {
      const policies = write("webhooks.json", { [word]: { cel: spec } });
      const json = JSON.parse(await run("webhooks", policies, "-o", "json")) as { items: unknown[] };
      assert.ok(/"matchExpressions"[\s\S]*"matchLabels"[\s\S]*"expression":"object.x/.test(JSON.stringify(json)));
      assertSame(await run("webhooks", policies, "-o", "yaml"), json.items, word);
    }
  });

  test("eval: one answer, many, an explanation", async () => {
    const message = `string(object.data[object.metadata.annotations.key])`;
    for (const [index, each] of [...WORDS, ...ODD].entries()) {
      if (index % 3 !== 0 && index < WORDS.length) continue;
      const one = write(`o${index}.json`, {
        ...object,
        metadata: { ...object.metadata, annotations: { key: Object.keys({ ...labels, ...odd })[index] } },
      });
      const policies = write("eval.yaml", {
        on: { cel: { validations: [{ expression: "object.metadata.name == 'x'", messageExpression: message }] } },
      });
      for (const more of [[], ["--explain"]]) {
        const args = ["eval", "on", "--policies", policies, "--object", one, ...more];
        assertSame(
          withoutTimes(await run(...args, "-o", "yaml")),
          [untimed(JSON.parse(await run(...args, "-o", "json")))],
          each,
        );
      }
    }
    const policies = write("all.yaml", {
      on: { cel: { validations: [{ expression: "false", message: "on" }] } },
      y: { cel: { validations: [{ expression: "true" }] } },
    });
    const args = ["eval", "--all", "--policies", policies, "--object", objects];
    assertSame(withoutTimes(await run(...args, "-o", "yaml")), [untimed(JSON.parse(await run(...args, "-o", "json")))]);
  });

  test("inspect: a module's metadata", async () => {
    const module = write(
      "m.wasm",
      emptyModule("on", { ...labels, ...Object.fromEntries(Object.entries(odd).slice(0, 8)) }),
    );
    for (const more of [[], ["--metadata"]])
      assertSame(await run("inspect", module, ...more, "-o", "yaml"), [
        JSON.parse(await run("inspect", module, ...more, "-o", "json")),
      ]);
  });

  test("apply and audit: policy reports", async (context) => {
    const policy = write("policy.yaml", {
      ...{ apiVersion: "policies.kyverno.io/v1", kind: "ValidatingPolicy" },
      metadata: {
        name: "on",
        annotations: { "policies.kyverno.io/category": "=", "policies.kyverno.io/severity": "high" },
      },
      spec: {
        matchConstraints: rules,
        validations: [...WORDS, ...ODD].map((each) => ({
          expression: `object.data[?${JSON.stringify(each)}].orValue("") == "?"`,
          message: each === "" ? "x" : each,
        })),
      },
    });
    const args = ["apply", policy, "--resource", objects, "--policy-report"];
    const json = JSON.parse(await run(...args, "--output-format", "json")) as object;
    assertSame(withoutTimes(await run(...args, "--output-format", "yaml")), [untimed(json)]);
    const server = await FakeApiServer.start(context);
    server.put("namespaces", { metadata: { name: "shop", uid: "u" } });
    for (const each of ["on", "1:30", "a\u0085b\u007f"]) server.put("configmaps", { ...configMap(each, { bad: "b" }) });
    const audit = [
      "audit",
      "--kubeconfig",
      server.kubeconfig(),
      "--policies",
      server.file("policies.yaml", without("no-bad", "bad")),
    ];
    const { items } = JSON.parse(await run(...audit, "-o", "json")) as { items: object[] };
    assert.equal(items.length, 3);
    assertSame(withoutTimes(await run(...audit, "-o", "yaml")), untimed(items) as object[]);
  });

  test("test: rows in Kyverno's format", async () => {
    const results = [...WORDS, "a\u2028b", "a\u007fb", " a "].map((word) => ({
      kind: "ConfigMap",
      policy: word,
      resources: [word],
      result: "pass",
    }));
    const file = write("kyverno-test.yaml", {
      ...{
        apiVersion: "cli.kyverno.io/v1alpha1",
        kind: "Test",
        metadata: { name: "on" },
        policies: ["policy.yaml"],
        resources: ["objects.json"],
      },
      results,
    });
    const part = (out: string, end: RegExp): string =>
      (out.split("Checking results ...\n\n")[1] ?? "").split(end)[0] ?? "";
    const json = part(await run("test", file, "--output-format", "json", "--detailed-results"), /\n\nTest Summary/);
    for (const result of results)
      assert.ok(
        json.includes(JSON.stringify(result.policy).replaceAll("<", "\\u003c").replaceAll("\u2028", "\\u2028")),
        result.policy,
      );
    const yaml = part(await run("test", file, "--output-format", "yaml", "--detailed-results"), /\nTest Summary/);
    assertSame(yaml, [JSON.parse(json)]);
  });

  test("scaffolds: names and what a module says of itself", async () => {
    for (const name of ["on", "y", "no", "null", "0777", "0x1f", "1e3"]) {
      const out = join(folder, `scaffold-${name}`);
      for (const kind of ["vap", "kyverno", "cel"]) {
        const printed = await run("scaffold", kind, name, "--folder", out, "--dry-run");
        for (const document of printed.split(/^--- .*\n/m).slice(1))
          assertSame(document, parseYamlDocuments(document), `${kind} ${name}`);
        assert.doesNotMatch(printed, new RegExp(`(?:name|policy|policyName): ${name}$|^${name}:`, "m"));
      }
    }
    for (const each of ODD.slice(0, 8)) {
      const module = write(
        "own.wasm",
        emptyModule("on", { "io.kubewarden.policy.severity": each, "io.kubewarden.policy.description": each }),
      );
      const manifest = await run("scaffold", "from-module", module, "--manifest", "--name", "on");
      assertSame(manifest, parseYamlDocuments(manifest), each);
      const [read] = parseYamlDocuments(manifest) as [
        { metadata: { name: unknown; annotations: Record<string, unknown> } },
      ];
      assert.deepEqual([read.metadata.name, read.metadata.annotations["io.kubewarden.policy.severity"]], ["on", each]);
    }
  });
});
