// Changes lines of the source one at a time, and tells which changes no test notices.
//   node scripts/mutate.mjs src/policy/served src/kinds/group   only files whose path begins so
//   --patience 30   seconds that the test files may take, where that is many times what they do
//   --again dist-mutated/survivors.json   only those of that list
//   --copy dist-mutated-2   another place, for a second run beside the first; --list   only counts; --every 3   each third change; --from 40   begins there (a run that was stopped)
// Nothing in src or dist is touched: the changed file is put into a copy of dist. What no test notices is printed, and written to
// survivors.json in that copy.
import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { API } from "typescript/unstable/sync";
import { changesOf } from "./mutation/changes.mjs";
import { testsOf } from "./mutation/rooms.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
/** Seconds that the test files may take: a change can make a loop endless. Many times what the slowest one takes: a busy
 * machine must not pass for a test that noticed. */
const PATIENCE_SECONDS = "120";
/** Tests with threads, sockets and clocks of their own: one that fails now and then on a busy machine has noticed nothing, and is run again. */
const HURRIED = /\/test\/(contract|server|loader)\//;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    list: { type: "boolean", default: false },
    every: { type: "string", default: "1" },
    from: { type: "string", default: "0" },
    copy: { type: "string", default: "dist-mutated" },
    again: { type: "string" },
    patience: { type: "string", default: PATIENCE_SECONDS },
  },
});
/** Beside dist, so that the tests find the repository's other files as they do from there. */
const copy = join(root, values.copy);

const mutants = compiling(allMutants());
console.log(`${mutants.length} changes that compile`);
for (const file of new Set(mutants.map((mutant) => mutant.file)))
  console.log(`  ${mutants.filter((mutant) => mutant.file === file).length} in ${file}`);
if (!values.list) {
  emit(mutants);
  await runAll(mutants);
}

function allMutants() {
  const config = join(root, "tsconfig.json");
  const api = new API({ cwd: root });
  const project = api.updateSnapshot({ openProjects: [config] }).getProjects()[0];
  const files = project.rootFiles
    .map((file) => file.slice(root.length))
    .filter((file) => testsOf(file).length > 0 && positionals.some((path) => file.startsWith(path)))
    .sort();
  const found = files.flatMap((file) => {
    const sourceFile = project.program.getSourceFile(join(root, file));
    return changesOf(sourceFile).map((change) => ({ file, text: sourceFile.text, ...change }));
  });
  api.close();
  const [every, from] = [Number(values.every), Number(values.from)];
  const again = values.again === undefined ? undefined : new Set(JSON.parse(readFileSync(values.again, "utf8")));
  return found.filter(
    (mutant, index) => (again === undefined || again.has(told(mutant))) && index % every === 0 && index >= from,
  );
}

function changed({ text, at, end, to }) {
  return text.slice(0, at) + to + text.slice(end);
}

/** Those that the compiler takes: the others could not be made. */
function compiling(candidates) {
  let current;
  const readFile = (file) =>
    current !== undefined && file === join(root, current.file) ? changed(current) : undefined;
  const api = new API({ cwd: root, fs: { readFile } });
  api.updateSnapshot({ openProjects: [join(root, "tsconfig.json")] });
  const kept = candidates.filter((mutant) => {
    const touched = [mutant.file, ...(current === undefined ? [] : [current.file])].map((file) => join(root, file));
    current = mutant;
    const snapshot = api.updateSnapshot({ fileChanges: { changed: touched } });
    const { program } = snapshot.getProjects()[0];
    const file = join(root, mutant.file);
    const problems = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
    // Names that are not used any more are a matter of taste.
    return problems.every(({ code }) => code === 6133 || code === 6196 || code === 6138);
  });
  api.close();
  return kept;
}

/** Compiles all of them in one go; the code of each is `js`. */
function emit(list) {
  rmSync(copy, { recursive: true, force: true });
  cpSync(join(root, "dist"), copy, { recursive: true });
  const folder = join(copy, "changed");
  mkdirSync(folder);
  const names = list.map((_, index) => join(folder, `m${index}.ts`));
  for (const [index, mutant] of list.entries()) writeFileSync(names[index], changed(mutant));
  const compilerOptions = {
    ...{ target: "ES2023", module: "ESNext", moduleResolution: "Bundler", verbatimModuleSyntax: true },
    ...{ noCheck: true, noResolve: true, types: [] },
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  spawnSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", folder], { stdio: "ignore" });
  for (const [index, mutant] of list.entries()) mutant.js = readFileSync(join(folder, `m${index}.js`), "utf8");
  rmSync(folder, { recursive: true });
}

function testFiles(file) {
  const all = readdirSync(join(copy, "test"), { recursive: true })
    .map(String)
    .filter((path) => path.endsWith(".test.js") && existsSync(join(root, "test", path.replace(/\.js$/, ".ts"))))
    .sort();
  return [...new Set(testsOf(file).flatMap((part) => all.filter((path) => path.includes(part))))];
}

async function runAll(list) {
  // Whatever fails without a change would pass for one that noticed it.
  const sets = new Set(list.map(({ file }) => testFiles(file).join()));
  for (const tests of sets) {
    const broken = await failing(tests.split(",").map((test) => join(copy, "test", test)));
    if (broken !== undefined) throw new Error(`fails without a change: ${JSON.stringify(broken)}`);
  }
  const survivors = [];
  let timeouts = 0;
  // What found the last change of a file finds the next one most likely.
  const lucky = new Map();
  for (const [index, mutant] of list.entries()) {
    const target = join(copy, mutant.file.replace(/\.ts$/, ".js"));
    const original = readFileSync(target);
    writeFileSync(target, mutant.js);
    const first = lucky.get(mutant.file);
    const tests = testFiles(mutant.file).map((test) => join(copy, "test", test));
    const killer = (first && (await noticing([first]))) ?? (await noticing(tests));
    if (killer?.late) {
      timeouts++;
      console.log(`${index}: noticed by time only: ${told(mutant)}`);
    }
    writeFileSync(target, original);
    if (killer === undefined) survivors.push(mutant);
    else if (killer.test !== undefined) lucky.set(mutant.file, killer.test);
    if (killer === undefined) console.log(`${index}: survived: ${told(mutant)}`);
    else if (index % 25 === 0) console.log(`${index} of ${list.length}: ${survivors.length} survived`);
    writeFileSync(join(copy, "survivors.json"), JSON.stringify(survivors.map(told), undefined, 1));
  }
  console.log(
    `${list.length} changes, ${list.length - survivors.length} noticed (${timeouts} by time), ${survivors.length} survived`,
  );
}

function told({ file, text, at, end, to, what }) {
  const line = text.slice(0, at).split("\n").length;
  const source = text.split("\n")[line - 1].trim();
  return `${file}:${line}: ${what}: ${text.slice(at, end).replace(/\s+/g, " ").slice(0, 100)} -> ${to.slice(0, 80)}   | ${source}`;
}

/** Runs test files, in one process, until something fails: the file that notices a change, or undefined. */
async function noticing(tests) {
  const found = await failing(tests);
  if (found?.test !== undefined && HURRIED.test(found.test) && (await failing([found.test])) === undefined)
    return undefined;
  return found;
}

function failing(tests) {
  return new Promise((resolve) => {
    const all = tests.map((test) => `import ${JSON.stringify(test)};`).join("");
    const child = spawn(process.execPath, ["--test-reporter=tap", "--input-type=module", "-e", all], {
      cwd: root,
      stdio: ["ignore", "pipe", "ignore"],
    });
    let text = "";
    const end = (result) => {
      clearTimeout(timer);
      child.kill("SIGKILL");
      resolve(result);
    };
    const timer = setTimeout(() => end({ late: true }), Number(values.patience) * 1_000);
    child.stdout.on("data", (data) => {
      text += data;
      const failed = /^\s*not ok [\s\S]*? location: '([^']+\.test\.js):/m.exec(text);
      if (failed !== null) end({ test: failed[1] });
    });
    child.on("close", (code) => end(code === 0 ? undefined : {}));
  });
}
