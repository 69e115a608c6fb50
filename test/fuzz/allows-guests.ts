/** Real guests that fail, of every protocol, as members for the fuzzer of allows. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseConfig } from "../../src/config/index.js";
import { createLoader } from "../../src/loader/index.js";
import type { Surroundings } from "./allows-cases.js";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

const PROTOCOLS: readonly string[] = ["extism", "wapc", "wasi"];
/** What the guests of `test/fixtures/chaos` are told to do: none of these is an answer. */
const MODES: readonly string[] = [
  ...["trap", "stack", "guest-error", "empty", "not-json", "not-utf8", "two-documents"],
  ...["wrong-shape", "bad-code", "bad-accepted", "mutate", "loop"],
];
/** One loop in so many failing members: each keeps a thread until its time is up. */
const MEMBER_TIMEOUT_MS = 300;
const GROUP_TIMEOUT_MS = 5_000;
/** As many as a few threads answer before their time is up. */
const TOGETHER = 40;

/** Guests on threads; `close` ends these. They are cold at first, and warm when they are asked again. */
export async function guests(): Promise<Surroundings & { readonly close: () => Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), "allows-"));
  const loader = createLoader({
    ...{ policyTimeout: GROUP_TIMEOUT_MS, workers: 1 },
    downloadDirectory: folder,
  });
  const entries = PROTOCOLS.flatMap((protocol) =>
    MODES.map(
      (mode) => `${protocol}-${mode}: { module: test/fixtures/chaos/${protocol}.wasm, settings: { mode: ${mode} } }`,
    ),
  );
  // No object of the fuzzer says which rule of this policy decides, so that none does.
  entries.push("opa: { module: test/vectors/rego/opa.wasm, executionMode: opa }");
  const read = parseConfig(entries.join("\n"), join(ROOT, "allows.yaml"));
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const { policies } = await loader.load(read.config);
  const clock = {
    get at(): number {
      return performance.now();
    },
    set at(_: number) {
      throw new Error("guests take their own time");
    },
  };
  return {
    ways: Array.from(policies.entries.values(), ({ id, policy }) => ({
      name: id,
      evaluate: () => (review, context) => policy.evaluate(review, context),
    })),
    ...{ clock: () => clock, memberTimeout: MEMBER_TIMEOUT_MS, groupTimeout: GROUP_TIMEOUT_MS, together: TOGETHER },
    close: async () => {
      await loader.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
