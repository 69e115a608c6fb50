/**
 * Every recorded configuration of the reference server (test/vectors/kubewarden/config.jsonl), served by ours: all of them in one file, which
 * works because an entry that can't be loaded doesn't stop the others. Where we differ on purpose (docs/differences.md) it is stated here.
 */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type ExampleServer, startExample } from "../support/example-server.js";

interface Answer {
  readonly allowed: boolean;
  readonly status?: { readonly message?: string; readonly code?: number; readonly details?: object };
}

interface Recorded {
  readonly name: string;
  readonly policiesYaml: string;
  readonly started: boolean;
  readonly response: { readonly status: number; readonly bodyJson: { readonly response?: Answer } } | null;
}

const vectors = new URL("../../../test/vectors/kubewarden/", import.meta.url);
const review = readFileSync(new URL("../../../test/fixtures/reviews/pod.json", import.meta.url), "utf8");

/** Configurations of one entry `p`; those whose modules aren't here are left out, and those about the file itself. */
const ABSENT = /happy0|gk-as-wapc|wapc-future|wapc-nometa|wapc-wrongmode/;
const recorded = readFileSync(new URL("config.jsonl", vectors), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Recorded)
  .filter(({ name, policiesYaml }) => !name.startsWith("file-") && !ABSENT.test(policiesYaml));

/** Refused there at the first request, right here: the language is CEL with the request's variables. */
const CEL = new Set(["expr-list-all", "expr-request-var", "expr-single-quote-word", "expr-size"]);
/** Right there, refused here at load: operators and statements that CEL doesn't have, and a mistake that was never reached. */
const NOT_CEL = new Set(["expr-bit-and-no-short", "expr-bit-or", "expr-if", "expr-xor", "expr-late-unknown"]);
/** Right there, refused here as mistakes of the file. */
const STRICTER = new Set(["policy-both", "policy-unknown-field"]);
/** Refused there; groups may be members here, and a member `x.y` can be called. */
const MORE_ALLOWED = new Set(["member-nested-group", "member-dot"]);
/** The whole group is unknown there, or nothing starts; here only the member is unavailable, and the expression doesn't need it. */
const ONE_MEMBER_LESS = new Set(["group-member-garbage--continue-on-errors", "group-member-missing-file"]);
/** Nothing there has arguments; here a member can be asked about a value, and this one accepts every value. */
const ARGUMENT = new Set(["expr-arg"]);

/** The entry under another name, with modules that are here. */
function entry({ name, policiesYaml }: Recorded, garbage: string): string {
  const wasm = fileURLToPath(new URL("wasm/", vectors));
  return policiesYaml
    .replace(/^p:/, `${name}:`)
    .replaceAll("id001", `anchor-${name}`)
    .replaceAll("group p rejected", `group ${name} rejected`)
    .replaceAll(
      /^( *)module: file:\/\/wasm\/happy\.wasm/gm,
      `$1module: file://${wasm}chaos-wasi.wasm\n$1settings: {mode: accept}`,
    )
    .replaceAll(
      "module: file://wasm/unhappy.wasm",
      "cel: {validations: [{expression: 'false', message: failing as expected}]}",
    )
    .replaceAll("file://wasm/garbage.wasm", `file://${garbage}`)
    .replaceAll("file://wasm/", `file://${wasm}`);
}

describe("configurations recorded from Kubewarden's policy-server", () => {
  const folder = mkdtempSync(join(tmpdir(), "configs-"));
  let server: ExampleServer;
  before(async () => {
    const garbage = join(folder, "garbage.wasm");
    writeFileSync(garbage, "this is not wasm");
    const file = join(folder, "policies.yml");
    writeFileSync(file, recorded.map((each) => entry(each, garbage)).join("\n"));
    server = await startExample("--policies", file, "--workers", "2", "--policy-timeout", "30");
  });
  after(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  const ask = async (name: string) => {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${server.url}/validate/${name}`, { method: "POST", headers, body: review });
    assert.equal(answer.status, 200);
    return ((await answer.json()) as { response: Answer }).response;
  };

  for (const each of recorded) {
    const { name, started, response } = each;
    const there = response?.bodyJson.response;
    test(name, async () => {
      const { allowed, status } = await ask(name);
      const text = `${allowed} ${JSON.stringify(status)}`;
      if (CEL.has(name) || MORE_ALLOWED.has(name) || ONE_MEMBER_LESS.has(name) || ARGUMENT.has(name)) {
        assert.notEqual(there?.allowed, true);
        assert.equal(allowed, true, text);
      } else if (NOT_CEL.has(name) || STRICTER.has(name) || !started || there?.status?.code === 500) {
        assert.equal(allowed, false, text);
        assert.equal(status?.code, 500, text);
      } else {
        const message = there?.status?.message?.replace("group p ", `group ${name} `);
        assert.deepEqual(
          { allowed, ...(status && { status }) },
          // A group's denial has no code there.
          { allowed: there?.allowed, ...(there?.status && { status: { code: 403, ...there.status, message } }) },
        );
      }
    });
  }
});
