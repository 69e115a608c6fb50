/** What authors of objects, policies, modules and files write must not erase, reorder or imitate what commands say of it. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, describe, test } from "node:test";
import { runCommandLine } from "../../src/cli/command-line.js";
import { configMap, without } from "../cluster/audit/support.js";
import { FakeApiServer } from "../kubernetes/client/fake-api-server.js";
import { emptyModule } from "../support/empty-module.js";

const range = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, index) => String.fromCharCode(from + index));
/** C0, DEL and C1; what turns texts round; ends of lines; halves of characters; a mark of the order of bytes. */
const CHARACTERS = [
  ...[...range(0, 0x1f), ...range(0x7f, 0x9f), "\u061c\u200e\u200f\u2028\u2029\ufeff\ud800", "\udc00"],
  ...[...range(0x202a, 0x202e), ...range(0x2066, 0x2069)],
];
/** Behind each of them what would be a line of its own, or would stand in another's place. */
const FORGED = `x${CHARACTERS.map((character) => `${character}FORGED`).join("")}`;
/** No file can be called so. */
const IN_NAMES = FORGED.replaceAll("\0", "").slice(0, 200);

const folder = mkdtempSync(join(tmpdir(), "hostile-"));
after(() => rmSync(folder, { recursive: true }));

function write(name: string, content: unknown): string {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === "string" || content instanceof Uint8Array ? content : JSON.stringify(content));
  return file;
}

async function run(...args: readonly string[]): Promise<string> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const io = { env: { KUBECONFIG: join(folder, "none") }, stdin: Readable.from([]), stdout, stderr };
  const [out, err] = [text(stdout), text(stderr)];
  await runCommandLine(args, io);
  stdout.end();
  stderr.end();
  return (await out) + (await err);
}

/** @param told what must be in it: that the text was printed at all */
function assertHarmless(printed: string, told = /FORGED/): void {
  assert.match(printed, told);
  const lines = printed
    .split("\n")
    .filter((line) => /^\s?FORGED|(?!\t)[\p{Cc}\p{Bidi_Control}\p{Cs}\u2028\u2029\ufeff]/u.test(line));
  assert.deepEqual(
    lines.map((line) => JSON.stringify(line.slice(0, 200))),
    [],
  );
}

const object = {
  ...{ apiVersion: "v1", kind: "ConfigMap" },
  metadata: { name: FORGED, namespace: FORGED, labels: { [FORGED]: FORGED }, annotations: { said: FORGED } },
  data: { [FORGED]: FORGED },
};
const objects = write("objects.json", object);
const SAID = "object.metadata.annotations.said";
const rules = {
  resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
};

/** Kyverno's policy, that says what the object says. */
const kyverno = (name: string, expression = "false") => ({
  ...{ apiVersion: "policies.kyverno.io/v1", kind: "ValidatingPolicy", metadata: { name } },
  spec: { matchConstraints: rules, validations: [{ expression, messageExpression: `string(${SAID})` }] },
});
const kyvernoFile = write("policy.yaml", kyverno("says"));
const policies = write("policies.json", {
  [FORGED]: {
    cel: {
      matchConstraints: rules,
      validations: [
        { expression: `${SAID} == ""`, messageExpression: `'no: ' + ${SAID}.replace('\\n', '').replace('\\r', '')` },
      ],
    },
  },
  says: { resource: kyvernoFile },
  changes: {
    resource: write("map.json", {
      ...{ apiVersion: "v1", kind: "List" },
      items: [
        {
          apiVersion: "admissionregistration.k8s.io/v1beta1",
          kind: "MutatingAdmissionPolicy",
          metadata: { name: "changes" },
          spec: {
            matchConstraints: rules,
            reinvocationPolicy: "Never",
            mutations: [
              {
                patchType: "JSONPatch",
                jsonPatch: { expression: `[JSONPatch{op: "add", path: "/data/more", value: ${SAID}}]` },
              },
            ],
          },
        },
        {
          apiVersion: "admissionregistration.k8s.io/v1beta1",
          kind: "MutatingAdmissionPolicyBinding",
          metadata: { name: "changes" },
          spec: { policyName: "changes" },
        },
      ],
    }),
    allowedToMutate: true,
  },
  group: {
    expression: "one() && two()",
    message: FORGED,
    policies: { one: { policy: FORGED }, two: { policy: "says" } },
  },
});
const broken = write("broken.json", {
  [FORGED]: { [FORGED]: 1, cel: { validations: [{ expression: FORGED, message: FORGED }] } },
  module: { module: `./${FORGED}.wasm` },
  group: { expression: `${FORGED}()`, message: FORGED, policies: { [FORGED]: { policy: FORGED } } },
});

describe("texts of others stand in their lines, and nothing that a terminal obeys is in them", () => {
  for (const args of [[], ["--table"], ["--table", "--detailed-results"], ["--audit-warn"]]) {
    test(`apply ${args.join(" ")}`, async () => {
      assertHarmless(
        await run("apply", kyvernoFile, "--resource", objects, ...args),
        args[0] === undefined ? /failed:/ : /FORGED/,
      );
    });
  }

  test("apply, of objects that come twice and policies that are broken", async () => {
    const twice = write("twice.json", { apiVersion: "v1", kind: "List", items: [object, object] });
    assertHarmless(await run("apply", kyvernoFile, "--resource", twice), /found duplicated resource/);
    assertHarmless(await run("apply", write("bad.yaml", kyverno(FORGED, FORGED)), "--resource", objects));
    assertHarmless(await run("apply", write("bad-policy.yaml", kyverno("x", `${SAID} + 1`)), "--resource", objects));
  });

  for (const args of [
    ["says", "-o", "text"],
    [FORGED, "-o", "text"],
    ["--all", "-o", "text"],
    ["--all", "-o", "text", "--explain"],
    ["group", "-o", "text", "--explain"],
    ["changes", "-o", "text"],
    ["says", "-o", "yaml"],
    ["group", "-o", "yaml", "--explain"],
  ]) {
    test(`eval ${JSON.stringify(args).slice(0, 40)}`, async () => {
      assertHarmless(await run("eval", ...args, "--policies", policies, "--object", objects));
    });
  }

  test("eval and check of policies that are broken", async () => {
    assertHarmless(await run("eval", FORGED, "-o", "text", "--policies", broken, "--object", objects));
    assertHarmless(await run("check", broken));
    assertHarmless(await run("check", write(`${IN_NAMES}.json`, { a: 1 })));
  });

  test("eval of what can't be read", async () => {
    assertHarmless(
      await run(
        "eval",
        "says",
        "--policies",
        policies,
        "--object",
        write(`${IN_NAMES}.yaml`, `a: [${FORGED.slice(0, 40)}`),
      ),
    );
    assertHarmless(await run("read", write(`${IN_NAMES}.yaml`, `"${IN_NAMES}`)), /not closed|FORGED/);
  });

  test("test files of our own", async () => {
    const file = write(
      "own.test.yaml",
      JSON.stringify({
        cases: [
          { name: FORGED, policy: FORGED, object, expect: "allow" },
          { name: "message", policy: "says", object, messageContains: `${FORGED} and more` },
          { name: "warnings", policy: "says", object, warnings: [FORGED] },
          { name: "changes", policy: "changes", object, mutated: { object } },
        ],
      }),
    );
    const told = await run("test", file, "--policies", policies, "--coverage");
    assertHarmless(told);
    assert.match(told, /0 passed, 4 failed/);
    assertHarmless(
      await run(
        "test",
        write("wrong.test.yaml", JSON.stringify({ policy: FORGED, cases: [{ name: FORGED, [FORGED]: 1, object }] })),
      ),
    );
  });

  for (const args of [
    [],
    ["--detailed-results"],
    ...["markdown", "junit", "yaml"].map((format) => ["--output-format", format, "--detailed-results"]),
  ]) {
    test(`test files of Kyverno ${args.join(" ")}`, async () => {
      const own = {
        apiVersion: "cli.kyverno.io/v1alpha1",
        kind: "Test",
        metadata: { name: FORGED },
        policies: ["policy.yaml"],
        resources: ["objects.json"],
      };
      const results = [
        { kind: "ConfigMap", policy: "says", resources: [FORGED], result: "pass" },
        { kind: "ConfigMap", policy: "says", resources: [`${FORGED}/${FORGED}`], result: "pass" },
        { kind: "ConfigMap", policy: FORGED, resources: ["x"], result: "pass" },
      ];
      const file = write("kyverno-test.yaml", JSON.stringify({ ...own, results }));
      const told = await run("test", file, ...args);
      assertHarmless(told);
      const rows = told.split("\n").filter((line) => /^\| \d+ \|/.test(line));
      if (args[1] === "markdown")
        assert.deepEqual(
          rows.map((row) => row.split("|").length),
          rows.map(() => 9),
        );
    });
  }

  test("replay", async () => {
    const request = {
      uid: FORGED,
      kind: { group: "", version: "v1", kind: "ConfigMap" },
      resource: { group: "", version: "v1", resource: "configmaps" },
      name: FORGED,
      namespace: FORGED,
      operation: "CREATE",
      userInfo: { username: FORGED },
      object,
    };
    const line = {
      record: "policy-server/v1",
      time: "2026-01-01T00:00:00Z",
      policy: "says",
      origin: "validate",
      generation: 1,
      request,
      response: { allowed: true, warnings: [FORGED] },
      outcome: "x",
      milliseconds: 1,
    };
    const records = write(
      `${IN_NAMES}.jsonl`,
      `${JSON.stringify(line)}\n{"record": "${IN_NAMES.replace(/[^\w]/g, "")}\n`,
    );
    assertHarmless(await run("replay", records, "--policies", policies, "--all"));
    assertHarmless(await run("replay", records, "--policies", policies));
  });

  test("webhooks, bench, inspect", async () => {
    assertHarmless(await run("webhooks", policies));
    assertHarmless(await run("webhooks", broken));
    assertHarmless(
      await run("bench", FORGED, "--policies", policies, "--object", objects, "--seconds", "0.1", "-o", "text"),
    );
    assertHarmless(await run("inspect", policies));
    assertHarmless(await run("inspect", broken));
    const module = write(
      "own.wasm",
      emptyModule(FORGED, {
        [`io.kubewarden.policy.${FORGED}`]: FORGED,
        [FORGED]: FORGED,
        "io.kubewarden.policy.usage": FORGED,
      }),
    );
    assertHarmless(await run("inspect", module));
    assertHarmless(await run("inspect", module, "--metadata", "-o", "yaml"));
    assertHarmless(await run("scaffold", "from-module", module, "--manifest"), /ClusterAdmissionPolicy/);
  });

  test("cel", async () => {
    const vars = write("vars.json", { [FORGED]: 1, said: FORGED });
    assertHarmless(await run("cel", "said + 'x'", "--vars", vars, "--explain"));
    assertHarmless(await run("cel", `said +\n"${FORGED.replace(/[\n\r\0]/g, "")}`, "--vars", vars, "--explain"));
  });

  test("audit", async (context) => {
    const server = await FakeApiServer.start(context);
    server.put("namespaces", { metadata: { name: "shop", uid: "uid-shop" } });
    const bad = configMap("bad", { bad: FORGED }) as { metadata: object };
    server.put("configmaps", { ...bad, metadata: { ...bad.metadata, name: FORGED } });
    const args = ["--kubeconfig", server.kubeconfig()];
    assertHarmless(await run("audit", ...args, "--policies", server.file("policies.yaml", without("no-bad", "bad"))));
    assertHarmless(await run("audit", ...args, "--policies", policies));
    for (const format of ["yaml", "junit"])
      assertHarmless(await run("audit", ...args, "--policies", policies, "-o", format));
    assertHarmless(await run("audit", ...args, "--policies", broken));
  });
});

test("no command writes on standard error what it has not made printable", () => {
  const root = new URL("../../../src/cli/", import.meta.url);
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  const writing = files.filter((name) => /stderr\)?\.write\(\s*[^\s"]/.test(readFileSync(new URL(name, root), "utf8")));
  // Counts; the help of the command line; what the runner of Kyverno's tests has made printable itself.
  assert.deepEqual(writing.sort(), ["audit/index.ts", "command-line.ts", "test/index.ts"]);
});
