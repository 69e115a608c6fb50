/** Constants of src that no file exports, for tests that hold what docs say of them. */
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const src = fileURLToPath(new URL("../../../src", import.meta.url));
const files = readdirSync(src, { recursive: true }).map(String);

/**
 * The number that `const NAME = …` has, a product of numbers. By its file's name, because folders may change.
 * @param file such as `server/gate.ts`, or its end
 * @throws Error when not exactly one file has it
 */
export function sourceConstant(file: string, name: string): number {
  const found = files
    .filter((each) => `/${each}`.endsWith(`/${file}`) && basename(each) === basename(file))
    .flatMap((each) => {
      const text = readFileSync(join(src, each), "utf8");
      return [...text.matchAll(new RegExp(`^(?:export )?const ${name} = ([\\d_.* ]+);$`, "gm"))];
    });
  const [, product] = found[0] ?? [];
  if (product === undefined || found.length !== 1) throw new Error(`${found.length} files ${file} have ${name}`);
  return product.split("*").reduce((value, factor) => value * Number(factor.replaceAll("_", "")), 1);
}
