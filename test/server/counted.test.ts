/** What requests are counted as (spec kubewarden.md 8.1). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { admissionReview, entry, post, serve } from "./fake-policy.js";

test("only policies that could not be loaded count as such, not loaded ones that fail", async (t) => {
  const server = await serve([
    entry("unloaded", () => ({ verdict: "error", message: "invalid wasm file", cause: "unavailable", final: true }), {
      unavailable: "invalid wasm file",
    }),
    entry("waiting", () => ({ verdict: "error", message: "no parameter yet", cause: "unavailable" })),
    entry("crowded", () => ({ verdict: "error", message: "too many policy calls are waiting", cause: "overload" })),
  ]);
  t.after(() => server.stop({ delay: 0, grace: 0 }));
  for (const id of ["unloaded", "waiting", "crowded"]) await post(`${server.url}/validate/${id}`, admissionReview());
  const lines = (await (await fetch(`${server.probes}/metrics`)).text()).split("\n");
  const counted = (id: string) =>
    lines.filter((line) => line.startsWith(`kubewarden_policy_evaluations_total{policy_name="${id}"`));
  assert.deepEqual(counted("unloaded"), [
    'kubewarden_policy_evaluations_total{policy_name="unloaded",initialization_error="invalid wasm file"} 1',
  ]);
  for (const id of ["waiting", "crowded"]) {
    const [line = "", ...others] = counted(id);
    assert.deepEqual(others, []);
    assert.match(line, /accepted="false".*error_code="500"\} 1$/);
  }
});
