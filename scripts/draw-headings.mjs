// Draws headings of docs/ by a seed, for a reader who is to say in which room of docs/architecture.md each behaviour lives: node scripts/draw-headings.mjs [SEED] [COUNT]
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const [seed = "1", count = "20"] = process.argv.slice(2);
const docs = fileURLToPath(new URL("../docs/", import.meta.url));
/** Pages without behaviour of the program: the index, what the reader has, and pages about tools. */
const LEFT_OUT =
  /^(README|architecture|dependencies|testing|performance|differences|concepts|tutorial|walk-through|moving-from-.*)\.md$/;
const headings = readdirSync(docs)
  .filter((file) => file.endsWith(".md") && !LEFT_OUT.test(file))
  .flatMap((file) =>
    [...readFileSync(docs + file, "utf8").matchAll(/^#{2,3} (.+)$/gm)].map(([, text]) => `${file}: ${text}`),
  );

/** Numbers from 0 to below 1, the same for the same seed. */
let state = Number(seed) >>> 0;
function random() {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return state / 2 ** 32;
}

for (let left = Number(count); left > 0 && headings.length > 0; left--)
  console.log(headings.splice(Math.floor(random() * headings.length), 1)[0]);
