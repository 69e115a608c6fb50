/**
 * Configurations with many mistakes, and what `check` says of each: all of it, in one run. The texts beside them were read by a person; `UPDATE_SNAPSHOTS=1`
 * writes them anew.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { runCommandLine } from "../../src/cli/command-line.js";

const folder = fileURLToPath(new URL("../../../test/cli/broken-configurations/", import.meta.url));
const root = fileURLToPath(new URL("../../../", import.meta.url));
const names = readdirSync(folder).filter((name) => name.endsWith(".yaml"));

/** What the command prints, with the folders of this machine left out. */
async function checked(name: string): Promise<{ code: number; out: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const io = { env: {}, stdin: Readable.from([]), stdout, stderr };
  const code = await runCommandLine(["check", "--policies", `${folder}${name}`], io);
  stdout.end();
  stderr.end();
  assert.equal(await text(stderr), "");
  return { code, out: (await text(stdout)).replaceAll(folder, "").replaceAll(root, "…/") };
}

describe("of broken configurations every mistake is told", () => {
  test("there are thirty", () => assert.ok(names.length >= 30));

  for (const name of names) {
    test(name, async () => {
      const { code, out } = await checked(name);
      // Neither is a map of policies that could have a mistake.
      assert.equal(code, ["list-of-policies.yaml", "nothing.yaml"].includes(name) ? 2 : 1);
      const snapshot = `${folder}${name.replace(/\.yaml$/, ".txt")}`;
      if (process.env.UPDATE_SNAPSHOTS === "1") writeFileSync(snapshot, out);
      assert.equal(out, readFileSync(snapshot, "utf8"));
      const places = [...out.matchAll(/^(\S+?):(\d+):(\d+): /gm)].map(
        ([, file, line, column]) => [file, Number(line), Number(column)] as const,
      );
      const own = places.filter(([file]) => file === name);
      assert.deepEqual(
        own,
        own.toSorted((left, right) => left[1] - right[1] || left[2] - right[2]),
        "in order of place",
      );
    });
  }
});
