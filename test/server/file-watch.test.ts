import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { watchFiles } from "../../src/server/file-watch.js";
import { folder } from "../fetch/helpers.js";
import { until } from "../support/until.js";

test("what has changed since the files began to be read is not known yet, and counts as a change, once", async (context) => {
  const file = join(folder(context), "policies.yaml");
  writeFileSync(file, "{}");
  const counts = { since: 0, now: 0 };
  const watch = (name: keyof typeof counts, since?: number) =>
    watchFiles({
      paths: () => [file],
      changed: () => void counts[name]++,
      interval: 10,
      ...(since !== undefined && { since }),
    });
  const watches = [await watch("since", Date.now() - 60_000), await watch("now")];
  context.after(() => watches.forEach((each) => void each.close()));
  await until("the change", () => counts.since === 1);
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.deepEqual(counts, { since: 1, now: 0 });
});
