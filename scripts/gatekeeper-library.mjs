/**
 * Plays the suites of a checkout of Gatekeeper's library against its converted templates: `node scripts/gatekeeper-library.mjs CHECKOUT [OPA]`. Every
 * template in CEL is converted to ValidatingAdmissionPolicies and to `cel:` entries. With a path to the program opa those in Rego are converted, too, and
 * built with the command that `convert` names. Outside of CI: nothing of the library is part of this repository. Needs `npm run build`.
 */
import { execSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { runCommandLine } from "../dist/src/cli/command-line.js";
import { parseYamlDocuments } from "../dist/src/data/yaml.js";
import { createEvaluator } from "../dist/src/library/create-evaluator.js";
import { createReview } from "../dist/src/library/create-review.js";
import { loadPolicies } from "../dist/src/library/load-policies.js";

const [checkout, opa] = process.argv.slice(2);
if (checkout === undefined) throw new Error("usage: node scripts/gatekeeper-library.mjs CHECKOUT [OPA]");

const documentsOf = (file) => parseYamlDocuments(readFileSync(file, "utf8")).filter((each) => each !== null);
const suites = readdirSync(checkout, { recursive: true })
  .filter((path) => path.endsWith("suite.yaml"))
  .map((path) => join(checkout, path))
  .sort();

/** What `convert` prints, and its exit code. */
async function converted(...args) {
  let [out, errors] = ["", ""];
  const into = (add) => new Writable({ write: (chunk, _encoding, done) => done(add(String(chunk))) });
  const io = {
    stdin: new PassThrough(),
    stdout: into((text) => {
      out += text;
    }),
    stderr: into((text) => {
      errors += text;
    }),
    env: {},
  };
  const code = await runCommandLine(["convert", ...args], io);
  return { code, out, errors };
}

/** Whether the answers are as the suite says; a module's violations are one message. */
function fits(assertions, { denied, messages }, isModule) {
  return (assertions ?? [{ violations: "yes" }]).every(({ violations = "yes", message }) => {
    const found = message === undefined ? messages : messages.filter((each) => new RegExp(message).test(each));
    const count = message === undefined && denied && found.length === 0 ? 1 : found.length;
    if (typeof violations === "number" || typeof violations === "bigint")
      return isModule ? count > 0 === violations > 0 : count === Number(violations);
    return violations === true || violations === "yes" ? count > 0 : count === 0;
  });
}

/** The answer of a policy to a case. */
async function answer(evaluator, ids, file) {
  const [written] = documentsOf(file);
  const { object, oldObject, operation } =
    written.kind === "AdmissionReview" ? written.request : { object: written, operation: "CREATE" };
  const review = createReview({ object: object ?? oldObject, ...(object && oldObject && { oldObject }), operation });
  const answers = await Promise.all(ids.map((id) => evaluator.evaluate(id, review)));
  return {
    denied: answers.some(({ allowed }) => !allowed),
    messages: answers.flatMap(({ response }) =>
      response.allowed
        ? []
        : (response.status?.details?.causes ?? [{ message: response.status?.message }]).map((each) => each.message),
    ),
  };
}

const counts = new Map();
const count = (what) => counts.set(what, (counts.get(what) ?? 0) + 1);

for (const suite of suites) {
  const folder = dirname(suite);
  for (const test of documentsOf(suite)[0].tests) {
    const template = join(folder, test.template);
    const isCel = readFileSync(template, "utf8").includes("K8sNativeValidation");
    if (!isCel && opa === undefined) continue;
    const [constraint] = documentsOf(join(folder, test.constraint));
    for (const form of isCel ? ["vap", "cel"] : ["rego"]) {
      const work = mkdtempSync(join(tmpdir(), "gatekeeper-library-"));
      const target = form === "rego" ? ["--output", work] : ["--to", form];
      const { code, out, errors } = await converted(template, join(folder, test.constraint), ...target);
      count(`${form}: constraints`);
      if (code !== 0) {
        count(`${form}: not converted`);
        console.log(errors.trim().replaceAll(checkout, "."));
      }
      const inventory = test.cases.flatMap((each) => (each.inventory ?? []).map((path) => join(folder, path)));
      if (form === "rego") {
        const build = /to be built in \S+ (.*)/.exec(errors)?.[1];
        if (build !== undefined)
          execSync(build.replace("opa build", `${opa} build`), { cwd: work, shell: "/bin/bash", stdio: "pipe" });
      } else if (form === "vap") {
        writeFileSync(join(work, "vap.yaml"), out);
        writeFileSync(join(work, "policies.yaml"), `${constraint.metadata.name}: { resource: vap.yaml }\n`);
      } else writeFileSync(join(work, "policies.yaml"), out);
      if (code === 0) {
        const loaded = await loadPolicies({ file: join(work, "policies.yaml") });
        const evaluator = createEvaluator(loaded);
        const ids = loaded.ids.filter((id) => !id.includes("/"));
        for (const problem of loaded.problems) console.log(`${form}: ${problem.severity}: ${problem.message}`);
        for (const each of test.cases) {
          if (each.skip) continue;
          if (inventory.length > 0) {
            count(`${form}: cases with an inventory, left out`);
            continue;
          }
          const got = await answer(evaluator, ids, join(folder, each.object));
          const good = fits(each.assertions, got, form === "rego");
          count(`${form}: cases ${good ? "as their suite says" : "otherwise"}`);
          if (!good) console.log(`${form}: ${suite}: ${test.name}/${each.name}: ${JSON.stringify(got)}`);
        }
        evaluator.close();
        await loaded.close();
      }
      rmSync(work, { recursive: true });
    }
  }
}
for (const [what, number] of counts) console.log(`${String(number).padStart(4)} ${what}`);
