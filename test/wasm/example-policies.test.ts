import assert from "node:assert/strict";
import { readdirSync, statSync } from "node:fs";
import { after, describe, test } from "node:test";
import { encodePatch } from "../../src/admission/encode.js";
import { parseYamlDocuments } from "../../src/data/yaml.js";
import type { Outcome } from "../../src/policy/outcome.js";
import { admission, context, file, raw, testRuntime } from "./support.js";

interface Case {
  readonly name: string;
  readonly settings?: Record<string, unknown>;
  readonly object?: unknown;
  readonly raw?: unknown;
  readonly allowed: boolean;
  readonly message?: string;
  readonly code?: number;
  readonly mutated?: unknown;
}

interface Cases {
  readonly settings: Record<string, unknown>;
  readonly cases: readonly Case[];
  readonly refused: readonly { readonly settings: Record<string, unknown>; readonly message: string }[];
  readonly accepted?: readonly Record<string, unknown>[];
}

/** Bytes: an example should show that a policy in AssemblyScript is small. */
const LARGEST_MODULE = 64 * 1024;
const policies = readdirSync(new URL("../../../policies", import.meta.url), { withFileTypes: true })
  .map((entry) => entry.name)
  .filter((name) =>
    statSync(new URL(`../../../policies/${name}/cases.yaml`, import.meta.url), { throwIfNoEntry: false }),
  );

function expected({ allowed, message, code, mutated, object, raw: payload }: Case): Outcome {
  const patch = mutated === undefined ? undefined : encodePatch(object ?? payload, mutated);
  const rest = {
    ...(message !== undefined && { message }),
    ...(code !== undefined && { code }),
    ...(patch !== undefined && { mutation: { kind: "patch", patch } as const }),
  };
  return allowed ? { verdict: "allow", ...rest } : { verdict: "deny", ...rest };
}

describe("example policies", () => {
  const { runtime } = testRuntime();
  after(() => runtime.close());

  for (const name of policies) {
    const bytes = file(`policies/${name}/policy.wasm`);
    const {
      settings,
      cases,
      refused,
      accepted = [],
    } = parseYamlDocuments(file(`policies/${name}/cases.yaml`).toString())[0] as Cases;

    describe(name, () => {
      test("is small", () => assert.ok(bytes.length < LARGEST_MODULE, `${bytes.length} bytes`));

      for (const entry of cases) {
        test(entry.name, async () => {
          const policy = await runtime.load({ id: name, bytes, settings: entry.settings ?? settings });
          const review = Object.hasOwn(entry, "raw") ? raw(entry.raw) : admission(entry.object);
          assert.deepEqual(await policy.evaluate(review, context()), expected(entry));
        });
      }
      for (const { settings: bad, message } of refused) {
        test(`refuses settings: ${message}`, () =>
          assert.rejects(runtime.load({ id: name, bytes, settings: bad }), {
            code: "wasm-settings",
            message: `Policy settings are invalid: ${message}`,
          }));
      }
      for (const good of accepted) {
        test(`takes the settings ${JSON.stringify(good)}`, async () => {
          await runtime.load({ id: name, bytes, settings: good });
        });
      }
    });
  }

  test("there are four of them, or more", () => assert.ok(policies.length >= 4));
});
