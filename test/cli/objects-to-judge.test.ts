/** The same object is the same for every command that judges it. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, describe, test } from "node:test";
import { runCommandLine } from "../../src/cli/command-line.js";

const folder = mkdtempSync(join(tmpdir(), "objects-"));
after(() => rmSync(folder, { recursive: true }));
const write = (name: string, content: string | object): string => {
  const file = join(folder, name);
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
};

async function run(args: readonly string[], stdin = "") {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const [out, err] = [text(stdout), text(stderr)];
  const io = { env: { KUBECONFIG: join(folder, "none") }, stdin: Readable.from([stdin]), stdout, stderr };
  const code = await runCommandLine(args, io);
  stdout.end();
  stderr.end();
  return { code, out: await out, err: (await err).replaceAll(`${folder}/`, "") };
}

/** Denies all in the namespace `default`, by its name and by its Namespace, and says where it was. */
const spec = {
  matchConstraints: {
    resourceRules: [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"] }],
    namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "default" } },
  },
  validations: [
    {
      expression: "request.namespace != namespaceObject.metadata.name || object.metadata.namespace != 'default'",
      message: "in default",
    },
  ],
};
const policy = write("policy.yaml", {
  ...{ apiVersion: "admissionregistration.k8s.io/v1", kind: "ValidatingAdmissionPolicy", metadata: { name: "p" } },
  spec: { failurePolicy: "Fail", ...spec },
});
const definition = {
  ...{
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "globes.acme.example" },
  },
  spec: {
    ...{ group: "acme.example", scope: "Cluster", names: { kind: "Globe", plural: "globes" } },
    versions: [{ name: "v1", served: true, storage: true }],
  },
};
write("definition.yaml", definition);
const policies = write("policies.yaml", "p: { resource: [policy.yaml, definition.yaml] }\n");

/** The verdict of each command about an object. */
async function verdicts(object: object): Promise<Readonly<Record<string, string>>> {
  const file = write("object.json", object);
  const evaluated = await run(["eval", "p", "--policies", policies, "--object", file, "-o", "text"]);
  const cases = write("o.test.yaml", { policy: "p", cases: [{ object, expect: "deny" }] });
  const tested = await run(["test", cases, "--policies", policies]);
  const applied = await run(["apply", policy, "--resource", file]);
  const review = await run(["scaffold", "review", file]);
  const asked = review.out === "" ? undefined : write("review.json", review.out);
  const scaffolded =
    asked === undefined ? review : await run(["eval", "p", "--policies", policies, "--request", asked, "-o", "text"]);
  const word = ({ out, err }: { out: string; err: string }): string =>
    out.startsWith("DENIED") ? "denied" : /^DOES NOT APPLY/.test(out) ? "not for it" : err;
  return {
    eval: word(evaluated),
    scaffold: word(scaffolded),
    test: tested.code === 0 ? "denied" : /^Error: /m.test(tested.err) ? tested.err : "not for it",
    apply: applied.code === 2 ? applied.err : /fail: 1/.test(applied.out) ? "denied" : "not for it",
  };
}

const pod = (metadata: unknown) => ({ apiVersion: "v1", kind: "Pod", metadata });

describe("an object is judged in its namespace by every command", () => {
  const cases: readonly [what: string, object: object, expected: "denied" | "not for it"][] = [
    ["of a namespaced kind without a namespace", pod({ name: "a" }), "denied"],
    ["that is in default", pod({ name: "a", namespace: "default" }), "denied"],
    ["that is elsewhere", pod({ name: "a", namespace: "shop" }), "not for it"],
  ];
  for (const [what, object, expected] of cases)
    test(what, async () => {
      const all = { eval: expected, scaffold: expected, test: expected, apply: expected };
      assert.deepEqual(await verdicts(object), all);
    });

  test("an unknown kind counts as namespaced, with a warning", async () => {
    const widget = { apiVersion: "acme.example/v1", kind: "Widget", metadata: { name: "a" } };
    const file = write("object.json", widget);
    for (const args of [
      ["eval", "p", "--policies", policies, "--object", file],
      ["apply", policy, "--resource", file],
      ["scaffold", "review", file],
    ]) {
      const { err } = await run(args);
      assert.match(err, /object\.json.*Widget of acme\.example\/v1 is not a kind that is known here/, args[0]);
    }
    assert.match(
      (
        await run([
          "test",
          write("w.test.yaml", { policy: "p", cases: [{ object: widget, expect: "deny" }] }),
          "--policies",
          policies,
        ])
      ).err,
      /warning: .*Widget/,
    );
    const globe = write("object.json", { ...widget, kind: "Globe" });
    const { out, err } = await run(["eval", "p", "--policies", policies, "--object", globe, "-o", "text"]);
    assert.equal(err, "");
    assert.match(out, /Globe a /);
    const cluster = await run(["eval", "p", "--policies", policies, "--object", file, "--namespace", ""]);
    assert.equal(cluster.err, "");
  });
});

describe("an object that no cluster takes is an error of every command", () => {
  const broken: readonly [object: object, message: RegExp][] = [
    ...[false, 123, ["a"]].flatMap((value): [object, RegExp][] => [
      [pod({ name: "a", namespace: value }), /metadata\.namespace:? is .*not a text/],
      [pod({ name: value }), /metadata\.name:? is .*not a text/],
      [pod({ name: "a", labels: { team: value } }), /metadata\.labels\.team:? is .*not a text/],
    ]),
    [pod(["a"]), /metadata:? is a list, not a map/],
    [{ ...pod({ name: "a" }), kind: 1 }, /kind/i],
    [{ apiVersion: "v1", kind: "Podd", metadata: { name: "a" } }, /v1 has no kind Podd/],
    [{ kind: "Pod", metadata: { name: "a" } }, /apiVersion/],
    [{ apiVersion: "v1", metadata: { name: "a" } }, /kind/i],
  ];
  for (const [object, message] of broken)
    test(JSON.stringify(object), async () => {
      for (const [command, word] of Object.entries(await verdicts(object))) assert.match(word, message, command);
    });
});
