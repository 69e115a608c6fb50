/** Builds a folder that `scaffold wasm` has made, with the tools of this repository in place of what npm would install. */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";

const repository = fileURLToPath(new URL("../../../", import.meta.url));
/** What npm would put there: the kit's tools, with what they need. */
const TOOLS = ["@extism/as-pdk", "json-as", "xjb-as"];

/**
 * Compiles its policy.
 * @param kit the folder of this package's AssemblyScript kit
 */
export async function buildModule(folder: string, kit = join(repository, "assemblyscript")): Promise<void> {
  for (const [name, target] of [
    ...TOOLS.map((tool) => [tool, join(repository, "node_modules", tool)] as const),
    ["policy-group-gateway/assemblyscript", kit] as const,
  ]) {
    const link = join(folder, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(target, link);
  }
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
  const [, module = ""] = Object.entries(written).find(([name]) => name.endsWith("policy.wasm")) ?? [];
  writeFileSync(join(folder, "policy.wasm"), module);
}
