/** Constants of src that no file exports, for tests that hold what docs say of them. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const src = fileURLToPath(new URL("../../../src", import.meta.url));
const texts = new Map(
  readdirSync(src, { recursive: true })
    .map(String)
    .filter((file) => file.endsWith(".ts"))
    .map((file) => [file, readFileSync(join(src, file), "utf8")]),
);

/**
 * The number that `const NAME = …` has, a product of numbers.
 * @param place a folder of src, such as `serving`, or where a name is there more than once a file without its ending
 * @throws Error when not exactly one file there has it
 */
export function sourceConstant(place: string, name: string): number {
  const pattern = new RegExp(`^(?:export )?const ${name} = ([\\d_.* ]+);$`, "m");
  const found = [...texts]
    .filter(([file]) => file === `${place}.ts` || file.startsWith(`${place}/`))
    .flatMap(([file, text]) => {
      const product = pattern.exec(text)?.[1];
      return product === undefined ? [] : [{ file, product }];
    });
  const [only] = found;
  if (only === undefined || found.length > 1)
    throw new Error(`${name} in ${place}: ${found.map(({ file }) => file).join(", ") || "in no file"}`);
  return only.product.split("*").reduce((value, factor) => value * Number(factor.replaceAll("_", "")), 1);
}
