// Joins what the compiler has written to dist/src into the files that are shipped, dist/server: the executable, the scripts of its threads, and what they
// share in dist/server/joined (scripts/ways.mjs). Loading 650 files takes Node 0.6 s of CPU and 20 MiB, loading these a tenth of it. Code is not
// shortened, names are kept, so that stacks and profiles can be read. What is newer than everything it is made of is left alone.
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, posix, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { ways } from "./ways.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const source = join(root, "dist/src");
const written = join(root, "src");
const target = join(root, "dist/server");
const MAIN = "main.js";
/** Loaded by itself, before anything that an old Node cannot read. */
const NODE_VERSION = "data/node-version.js";
/** What programs import. */
const FACES = ["index.js", "cel/index.js"];
/** Scripts of threads are started by such addresses, data files read. */
const ADDRESS = /new URL\("([^"]+)", import\.meta\.url\)/g;
/**
 * Packages that are joined, too, with what they bring; their licences go along. Those that every server loads, in 110 files; and those of OTLP, of which each has its code
 * three or four times over: 32 MB where 1 MB is used. All others are installed beside, so that their security fixes need no release of ours.
 */
const JOINED_ROOTS = JSON.parse(readFileSync(new URL("joined-packages.json", import.meta.url), "utf8"));
/** With all that they need, by the lock file: joined packages are found at the top of node_modules. */
function withNeeds(roots) {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const found = new Set();
  const add = (name) => {
    if (found.has(name)) return;
    found.add(name);
    for (const needed of Object.keys(packages[`node_modules/${name}`]?.dependencies ?? {})) add(needed);
  };
  for (const name of roots) add(name);
  return found;
}
const JOINED = withNeeds(JOINED_ROOTS);
const isPackage = (id) => !/^[./]|^[a-zA-Z]:/.test(id);
const packageOf = (id) => id.split("/", id.startsWith("@") ? 2 : 1).join("/");
/** What stands for `import.meta.url` until it is known into which file a module goes. */
const placeholder = (file) => `__OWN_ADDRESS__(${JSON.stringify(file)})`;
const PLACEHOLDER = /__OWN_ADDRESS__\("([^"]+)"\)/g;

const files = readdirSync(source, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => relative(source, join(entry.parentPath, entry.name)).replaceAll("\\", "/"));
/** The compiler leaves what it has made of sources that are no more. */
const scripts = files.filter((file) => file.endsWith(".js") && existsSync(join(written, file.replace(/\.js$/, ".ts"))));
const data = files.filter((file) => !/\.(js|d\.ts|map)$/.test(file));

/** A folder and those in it. Each is as new as the last file that was added to it or taken away. */
function folders(top) {
  const below = readdirSync(top, { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [top, ...below.map((entry) => join(entry.parentPath, entry.name))];
}

/** Whether all has been joined since it was compiled, and nothing taken away. */
function isFresh() {
  const modified = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs;
  const joined = modified(join(target, MAIN));
  const made = ["package-lock.json", "scripts/join.mjs", "scripts/ways.mjs", "scripts/joined-packages.json"].map(
    (file) => join(root, file),
  );
  return (
    joined !== undefined &&
    [
      ...made,
      ...folders(written),
      ...folders(source),
      ...[...scripts, ...data].map((file) => join(source, file)),
    ].every((file) => (modified(file) ?? 0) < joined)
  );
}

/** The executable, the library, and every script that a module starts. */
function entries() {
  const found = new Set([MAIN, NODE_VERSION, ...FACES]);
  for (const script of scripts) {
    for (const [, address] of readFileSync(join(source, script), "utf8").matchAll(ADDRESS)) {
      const file = posix.join(posix.dirname(script), address);
      if (scripts.includes(file)) found.add(file);
    }
  }
  return [...found];
}

/** A module finds what lies beside it as if it lay at its own place below dist/server, whatever file it was joined into. */
const ownAddresses = {
  name: "own-addresses",
  transform(code, id) {
    if (!code.includes("import.meta.url")) return null;
    const file = relative(source, id).replaceAll("\\", "/");
    return { code: code.replaceAll("import.meta.url", placeholder(file)), map: null };
  },
};

/**
 * The code with escapes for what is not Latin-1: V8 keeps a text with one such character in two bytes for each, and these files for as long as the process
 * lives.
 */
function inLatin1(file, code) {
  if (/String\.raw`[^`]*[\u0100-\uffff]/.test(code)) throw new Error(`${file}: an escape would change a raw text`);
  return code.replace(/[\u0100-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/**
 * Built-in modules as they are. Who imports one has all that it exports read first, which makes Node load streams for `node:fs`, and read all root certificates for `node:tls`: a
 * tenth of what the start of a server takes.
 */
const withBuiltins = (code) =>
  code.replace(/^import (.+) from "(node:[^"]+)";$/gm, (statement, wanted, name) => {
    const found = /^(?:([\w$]+|\* as [\w$]+)(?:, )?)?(\{.*\})?$/.exec(wanted);
    if (found === null) throw new Error(`an import that is not understood: ${statement}`);
    const module = `globalThis.process.getBuiltinModule("${name}")`;
    const [, whole, members] = found;
    const names = [whole?.replace("* as ", ""), members?.replaceAll(" as ", ": ")].filter(Boolean);
    return names.map((each) => `const ${each} = ${module};`).join(" ");
  });

async function run() {
  const bundle = await rolldown({
    input: Object.fromEntries(entries().map((file) => [file.replace(/\.js$/, ""), join(source, file)])),
    platform: "node",
    external: (id) => isPackage(id) && !JOINED.has(packageOf(id)),
    plugins: [ownAddresses],
    // A file that is imported by its name may hand out more than its module does.
    preserveEntrySignatures: "allow-extension",
    // What one way loads when it is needed may lie on another from the beginning.
    checks: { ineffectiveDynamicImport: false },
  });
  const { output } = await bundle.generate({
    format: "esm",
    comments: false,
    entryFileNames: "[name].js",
    chunkFileNames: "joined/[name]-[hash].js",
    codeSplitting: ways(source),
  });
  await bundle.close();
  rmSync(target, { recursive: true, force: true });
  const write = (file, made) => {
    mkdirSync(dirname(join(target, file)), { recursive: true });
    made(join(target, file));
  };
  for (const file of data) write(file, (place) => copyFileSync(join(source, file), place));
  // What is linked is ours.
  for (const name of JOINED) {
    if (lstatSync(join(root, "node_modules", name)).isSymbolicLink()) continue;
    const licence = readdirSync(join(root, "node_modules", name)).find((file) => /^licen[cs]e/i.test(file));
    if (licence === undefined) throw new Error(`${name} has no licence to hand on`);
    write(join("licences", name.replace("/", "-")), (place) =>
      copyFileSync(join(root, "node_modules", name, licence), place),
    );
  }
  // The executable last: by its age it is told whether all was joined.
  for (const { fileName, code } of output.toSorted(
    (a, b) => Number(a.fileName === MAIN) - Number(b.fileName === MAIN),
  )) {
    const up = posix.relative(posix.dirname(fileName), ".") || ".";
    const text = inLatin1(fileName, withBuiltins(code)).replace(
      PLACEHOLDER,
      (_, file) => `new URL("${up}/${file}", import.meta.url).href`,
    );
    // Programs that import one on a Node that is too old get an error that says so.
    const checked = FACES.includes(fileName) ? `import "${up}/${NODE_VERSION}";\n${text}` : text;
    write(fileName, (place) => writeFileSync(place, checked));
  }
  chmodSync(join(target, MAIN), 0o755);
}

if (!isFresh()) await run();
// The page is shipped beside the server.
await import("./page.mjs");
