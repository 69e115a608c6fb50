import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { type InputFile, Inputs } from "../../../src/offline/scan/input-files.js";

const folder = mkdtempSync(join(tmpdir(), "input-files-"));
after(() => rmSync(folder, { recursive: true }));

async function contentOf(file: InputFile | undefined): Promise<string> {
  const chunks: Buffer[] = [];
  // Chunks are good until the next one is asked for.
  for await (const chunk of file?.read() ?? []) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString("utf8");
}

describe("inputs", () => {
  test("a pipe beside files can be read twice, and says how long it is", async () => {
    const [pipe, file, written] = [join(folder, "pipe"), join(folder, "b.yaml"), join(folder, "c.yaml")];
    for (const size of [100, 5 * 1024 * 1024]) {
      rmSync(pipe, { force: true });
      assert.equal(spawnSync("mkfifo", [pipe]).status, 0);
      writeFileSync(file, "b");
      writeFileSync(written, "x".repeat(size));
      spawn("sh", ["-c", `cat ${written} > ${pipe}`]);
      const inputs = new Inputs();
      const [first, second] = await inputs.files([pipe, file]);
      assert.equal(first?.bytes, size);
      assert.equal(await contentOf(first), "x".repeat(size));
      assert.equal(await contentOf(first), "x".repeat(size), "again");
      assert.equal(await contentOf(second), "b");
      await inputs.close();
    }
  });

  test("of a long standard input nothing has a name on the disk, however the process ends", async () => {
    const [temporary, before] = [mkdtempSync(join(folder, "tmp-")), process.env.TMPDIR];
    process.env.TMPDIR = temporary;
    try {
      const inputs = new Inputs();
      const chunk = "0123456789".repeat(100_000);
      await inputs.takeStdin(
        (async function* () {
          for (let i = 0; i < 6; i++) yield Buffer.from(chunk);
        })(),
      );
      const [file] = await inputs.files(["-"]);
      assert.deepEqual(readdirSync(temporary), []);
      assert.equal(await contentOf(file), chunk.repeat(6));
      await inputs.close();
    } finally {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
    }
  });
});
