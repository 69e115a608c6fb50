// Makes the page in the browser, dist/page: one script of src/page/browser, shortened, beside its HTML and its style. What is newer than everything it is made
// of is left alone. The type check is `tsc -p src/page/browser`: the page's code sees a browser, the rest of the house Node.
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = fileURLToPath(new URL("..", import.meta.url));
const source = join(root, "src/page/browser");
const target = join(root, "dist/page");
const FILES = ["page.css", "index.html"];

/** Whether the page is as new as what it is made of. A folder is as new as the last file that was added to it or taken away. */
function isFresh() {
  const made = ["page.js", ...FILES].map(
    (file) => statSync(join(target, file), { throwIfNoEntry: false })?.mtimeMs ?? 0,
  );
  const parts = readdirSync(source, { recursive: true }).map((file) => join(source, String(file)));
  const newest = [source, ...parts, fileURLToPath(import.meta.url)].map((file) => statSync(file).mtimeMs);
  return Math.min(...made) > Math.max(...newest);
}

/** In one step: a server that starts in the meantime finds a whole file. */
function write(file, text) {
  writeFileSync(join(target, `${file}.new`), text);
  renameSync(join(target, `${file}.new`), join(target, file));
}

/** Style without its comments and indentation. */
const shortened = (css) =>
  css
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/\s*\n\s*/g, "\n")
    .trim();

async function make() {
  mkdirSync(target, { recursive: true });
  const bundle = await rolldown({
    input: join(source, "main.ts"),
    platform: "browser",
    tsconfig: join(source, "tsconfig.json"),
  });
  const { output } = await bundle.generate({ format: "esm", minify: true, comments: false });
  await bundle.close();
  if (output.length !== 1) throw new Error("the page is one script");
  write("page.js", output[0].code);
  for (const file of FILES) {
    const text = readFileSync(join(source, file), "utf8");
    write(file, file.endsWith(".css") ? shortened(text) : text);
  }
}

if (!isFresh()) await make();
