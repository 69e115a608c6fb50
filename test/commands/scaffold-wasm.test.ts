/** A scaffolded folder, outside of this repository, builds with what an author installs, and its tests pass. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";
import { runCommandLine } from "../../src/commands/command-line.js";

const repository = fileURLToPath(new URL("../../../", import.meta.url));
const root = mkdtempSync(join(tmpdir(), "scaffold-wasm-"));
after(() => rmSync(root, { recursive: true }));

/** What npm would put there: the tools with what they need, and this package as it is packed. */
const INSTALLED = ["@extism/as-pdk", "json-as", "xjb-as"];

async function run(...args: string[]): Promise<{ code: number; out: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const code = await runCommandLine(args, { env: {}, stdin: Readable.from([]), stdout, stderr });
  stdout.end();
  stderr.end();
  return { code, out: (await text(stdout)) + (await text(stderr)) };
}

test("a scaffolded WASM policy builds outside of this repository, and passes check and its own tests", async () => {
  assert.equal((await run("scaffold", "wasm", "mine", "--folder", root)).code, 0);
  const folder = join(root, "mine");
  for (const name of INSTALLED) {
    const link = join(folder, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(repository, "node_modules", name), link);
  }
  mkdirSync(join(folder, "node_modules/policy-group-gateway"));
  symlinkSync(join(repository, "assemblyscript"), join(folder, "node_modules/policy-group-gateway/assemblyscript"));
  const written: Record<string, Uint8Array | string> = {};
  const { error, stderr } = await asc.main(["assembly/policy.ts", "--target", "debug", "--baseDir", folder], {
    readFile: (name, base) => {
      try {
        return readFileSync(join(base, name), "utf8");
      } catch {
        return null;
      }
    },
    writeFile: (name, contents) => {
      written[name] = contents;
    },
  });
  assert.equal(error, null, stderr.toString());
  writeFileSync(
    join(folder, "policy.wasm"),
    Object.entries(written).find(([name]) => name.endsWith("policy.wasm"))?.[1] ?? "",
  );
  const checked = await run("check", join(folder, "policies.yaml"));
  assert.deepEqual([checked.code, checked.out], [0, `${join(folder, "policies.yaml")}: 1 policy, no errors\n`]);
  const tested = await run("test", folder);
  assert.deepEqual([tested.code, tested.out], [0, "7 passed, 0 failed\n"]);
});
