import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { admissionReview } from "../server/fake-policy.js";
import { startExample } from "../support/example-server.js";
import { until } from "../support/until.js";

const folder = mkdtempSync(join(tmpdir(), "shadow-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const [file, shadowFile] = [join(folder, "policies.yaml"), join(folder, "next.yaml")];

const rule = (expression: string, message: string) =>
  `{ cel: { validations: [ { expression: ${JSON.stringify(expression)}, message: ${message} } ] } }`;
const NAME_IS = (name: string) => `object.metadata.name == '${name}'`;

interface Shown {
  readonly id: string;
  readonly shadow?: {
    readonly version: string;
    readonly alone: boolean;
    readonly available: boolean;
    readonly agreed: number;
    readonly wouldDeny: number;
    readonly wouldAllow: number;
    readonly examples: readonly { readonly name?: string; readonly message?: string }[];
  };
}

describe("serve --shadow-policies, several processes", async () => {
  writeFileSync(file, `named: ${rule(NAME_IS("a"), "the name is a")}\nplain: ${rule("true", "never")}\n`);
  writeFileSync(shadowFile, `named: ${rule(NAME_IS("b"), "the name is b")}\nfresh: ${rule("false", "never yet")}\n`);
  const server = await startExample("--policies", file, "--shadow-policies", shadowFile, "--workers", "2");
  after(() => server.stop());

  // A connection each, so that all processes get some.
  const ask = async (id: string, name: string): Promise<boolean> => {
    const review = admissionReview({ name, object: { apiVersion: "v1", kind: "Pod", metadata: { name } } });
    const response = await fetch(`${server.url}/validate/${id}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Connection: "close" },
      body: JSON.stringify(review),
    });
    return ((await response.json()) as { response: { allowed: boolean } }).response.allowed;
  };
  const shown = async (id: string): Promise<Shown> => {
    const { policies } = (await (await fetch(`${server.url}/policies`)).json()) as { policies: Shown[] };
    return policies.find((policy) => policy.id === id) ?? assert.fail(`${id} is not shown`);
  };
  /** What is shown once so many answers have been compared: in all processes together, and never less than before. */
  const compared = async (id: string, answers: number): Promise<NonNullable<Shown["shadow"]>> => {
    let shadow: Shown["shadow"];
    const all = async (): Promise<boolean> => {
      ({ shadow } = await shown(id));
      if (shadow === undefined) assert.fail(`${id} has no shadow`);
      return shadow.agreed + shadow.wouldDeny + shadow.wouldAllow >= answers;
    };
    await until("all comparisons", all, () => server.log());
    return shadow ?? assert.fail(`${id} has no shadow`);
  };

  test("answers by the first file, and counts what the second would answer", async () => {
    for (let i = 0; i < 10; i++) {
      assert.equal(await ask("named", "a"), true);
      assert.equal(await ask("named", "b"), false);
      assert.equal(await ask("named", "c"), false);
    }
    const shadow = await compared("named", 30);
    const { agreed, wouldDeny, wouldAllow, alone, available, examples } = shadow;
    const expected = { agreed: 10, wouldDeny: 10, wouldAllow: 10, alone: false, available: true };
    assert.deepEqual({ agreed, wouldDeny, wouldAllow, alone, available }, expected);
    assert.equal(examples.length, 10);
    assert.ok(examples.some(({ name, message }) => name === "a" && message === "the name is b"));
    assert.equal((await shown("plain")).shadow, undefined);
    const metrics = await (await fetch(`${server.probes}/metrics`)).text();
    assert.match(metrics, /policy_server_shadow_evaluations_total\{policy_name="named",result="would_deny"\} 10/);
    assert.match(metrics, /policy_server_policies_in_shadow 2/);
  });

  test("what only the second file has lets everything pass, and is counted", async () => {
    assert.equal(await ask("fresh", "x"), true);
    const { alone, wouldDeny } = await compared("fresh", 1);
    assert.deepEqual({ alone, wouldDeny }, { alone: true, wouldDeny: 1 });
  });

  test("a changed second file begins anew; a broken one leaves nothing in shadow and everything served", async () => {
    const { version } = await compared("named", 30);
    writeFileSync(shadowFile, `named: ${rule(NAME_IS("c"), "the name is c")}\n`);
    process.kill(server.pid, "SIGHUP");
    await until("the other version", async () => {
      const { shadow } = await shown("named");
      return shadow !== undefined && shadow.version !== version && shadow.agreed === 0;
    });
    assert.equal(await ask("named", "c"), false);
    assert.equal((await compared("named", 1)).wouldAllow, 1);
    writeFileSync(shadowFile, "named: [");
    process.kill(server.pid, "SIGHUP");
    await until("the end of the shadow", async () => (await shown("named")).shadow === undefined);
    assert.equal(await ask("named", "a"), true);
    await until("the mistake", async () => /next\.yaml:1/.test(server.log()));
  });
});
