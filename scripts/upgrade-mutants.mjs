// Holds check --upgrade against the API server's own plugins of two releases (../shared/oracle/vap, built for each): mutants of public policies.
//   node scripts/upgrade-mutants.mjs --before vap37 --after vap38 --count 200 --seed 1 POLICIES...   files or folders of ValidatingAdmissionPolicies
// Each mutant that the plugins decide differently about one of the objects made here must be found; each that is found is asked about by its witness.
// Needs npm run build. Nothing is written but a temporary folder.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { parseAllDocuments } from "yaml";
import { createExpressionCompiler } from "../dist/src/kinds/validating-admission-policy/index.js";
import { decideCase } from "../dist/src/offline/cases/validating-admission-policy/case.js";

const main = fileURLToPath(new URL("../dist/server/main.js", import.meta.url));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    before: { type: "string" },
    after: { type: "string" },
    count: { type: "string", default: "200" },
    objects: { type: "string", default: "150" },
    seed: { type: "string", default: "1" },
  },
});
let state = Number(values.seed) * 2654435761;
const random = (below) => {
  state = (Math.imul(state ^ (state >>> 15), 2246822519) + 3266489917) >>> 0;
  return (state >>> 4) % below;
};
const pick = (list) => list[random(list.length)];

const filesBelow = (path) =>
  statSync(path).isDirectory() ? readdirSync(path).flatMap((name) => filesBelow(join(path, name))) : [path];
const policies = positionals
  .flatMap(filesBelow)
  .filter((file) => /\.ya?ml$/.test(file))
  .flatMap((file) => {
    const text = readFileSync(file, "utf8");
    return text.includes("{{")
      ? []
      : parseAllDocuments(text).map((document) => ((document.errors ?? []).length ? null : document.toJSON()));
  })
  .filter((each) => each?.kind === "ValidatingAdmissionPolicy" && each.spec?.paramKind === undefined);

// Mutations of an expression.
const PATH = /\b(?:object|oldObject|variables|c|container)(?:\.\w+)+(?!\w|\()/g;
const ranges = /\b(?:object|variables|c|container)(?:\.\??\w+)+(?=\.(?:all|exists|exists_one|map|filter)\()/;
const somePath = (text) => pick(text.match(PATH) ?? ["object.spec.value"]);
const MUTATIONS = [
  (text) =>
    text.replace(/([\w.[\]'()]+) (<=|>=|<|>) (\d+)/, (_, left, order, right) => `double(${left}) ${order} ${right}.0`),
  (text) => `!(${text})`,
  (text) => text.replace(/\.all\(/, ".exists("),
  (text) => text.replace(/\.exists\(/, ".all("),
  (text) => text.replace(ranges, () => somePath(text)),
  (text) => `${text} && double(${somePath(text)}) ${pick(["<", "<=", ">", ">="])} ${pick(["1.0", "5.5"])}`,
  (text) => `(${text}) || !(double(${somePath(text)}) ${pick(["<", ">="])} 0.5)`,
  (text) => text.replace(/ == ('[^']*'|"[^"]*")/, () => pick([" < double('NaN')", ".all(x, x == 'a')"])),
  (text) =>
    `${text} && ${pick(["", "!"])}quantity(${somePath(text)}).${pick(["isInteger()", "isGreaterThan(quantity('1k'))", "asInteger() > 5"])}`,
  (text) => text.replaceAll("&&", "||"),
  (text) =>
    text.replace(
      /size\(([^()]+)\) (<|>|==|>=|<=) (\d+)/,
      (_, of, order, right) => `${of}.all(x, x != '${order}${right}')`,
    ),
  (text) => text.replace(/has\(([^()]+)\)/, (_, of) => `double(${of}) > 1.0`),
  (text) =>
    `${text} ${pick(["&&", "||"])} ${somePath(text)}.${pick(["all(k, k != 'x')", "exists(k, k == 'x')", "map(k, k).size() == 0"])}`,
  (text) => `${pick(["", "!"])}(double(${somePath(text)}) / double(${somePath(text)}) > 0.5)`,
];
MUTATIONS.push(
  (text) => `!(double(${somePath(text)}) ${pick(["<", "<=", ">", ">="])} ${pick(["0.5", "10.0"])})`,
  (text) => `${somePath(text)}.${pick(["all(k, k != 'x')", "map(k, k).size() < 3", "filter(k, k == 1).size() == 0"])}`,
  (text) => `!${somePath(text)}.exists(k, k == 'x') && ${somePath(text)} != 'x'`,
  (text) =>
    `[${somePath(text)}, ${somePath(text)}].map(k, double(k)).${pick(["all", "exists"])}(k, k ${pick(["<", ">="])} 1.0)`,
  (text) =>
    `${pick(["", "!"])}quantity(${somePath(text)}).${pick(["isInteger()", "add(quantity('1')).isInteger()", `isLessThan(quantity(${somePath(text)}))`])}`,
);

function mutant(number) {
  const policy = structuredClone(pick(policies));
  policy.metadata = { name: `m${number}.example.com` };
  policy.apiVersion = "admissionregistration.k8s.io/v1";
  // Of a kind that may hold anything: whether the kinds' own fields may be such values is not asked here.
  policy.spec.matchConstraints = {
    resourceRules: [
      { apiGroups: ["example.com"], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["widgets"] },
    ],
  };
  // Mostly one expression alone, so that others do not hide what it decides.
  if (random(4) > 0 && policy.spec.validations?.length) {
    policy.spec.validations = [pick(policy.spec.validations)];
    delete policy.spec.matchConditions;
  }
  const places = [
    ...(policy.spec.validations ?? []),
    ...(policy.spec.variables ?? []),
    ...(policy.spec.matchConditions ?? []),
  ];
  for (let i = 0; i <= random(2); i++) {
    const place = pick(places);
    place.expression = pick(MUTATIONS)(String(place.expression));
  }
  return policy;
}

// Objects for a mutant: the paths that its text names, with values of all sorts.
const VALUES = [
  "NaN",
  "",
  "1",
  0,
  1,
  7,
  "a",
  true,
  [],
  {},
  "9223372036854775807",
  "1000000000000000000",
  "Infinity",
  ["NaN"],
  [""],
  0.5,
  "1234567890123456789012345678901",
];
function objectFor(policy) {
  const text = JSON.stringify(policy.spec);
  const object = { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "web", namespace: "ns" }, spec: {} };
  const literals = [...text.matchAll(/'([^']*)'|\\"([^"\\]*)\\"/g)].map(([, a, b]) => a ?? b);
  const put = (root, path, value) => {
    let at = root;
    for (const key of path.slice(0, -1)) {
      if (typeof at[key] !== "object" || at[key] === null || Array.isArray(at[key])) at[key] = {};
      at = at[key];
    }
    at[path.at(-1)] = value;
  };
  const value = () => structuredClone(random(3) === 0 && literals.length > 0 ? pick(literals) : pick(VALUES));
  const inner = [...text.matchAll(/\b(?:c|container|x|e|v|volume|env)((?:\.\??\w+)+)(?!\w|\()/g)].map(([, path]) =>
    path.replaceAll("?", "").slice(1).split("."),
  );
  for (const [, found] of text.matchAll(/\bobject((?:\.\??\w+|\[\??'[^']+'\])+)(?!\w|\()/g)) {
    if (random(5) === 0) continue;
    const path = found
      .replaceAll("?", "")
      .replaceAll(/\['([^']+)'\]/g, ".$1")
      .slice(1)
      .split(".");
    if (path[0] === "kind" || path[0] === "apiVersion") continue;
    if (path[0] === "metadata" && (path.length < 3 || !["labels", "annotations"].includes(path[1]))) continue;
    const item = {};
    for (const each of inner) if (random(3) > 0) put(item, each, value());
    put(object, path, random(3) === 0 ? [item] : value());
  }
  for (const member of ["labels", "annotations"])
    for (const [key, each] of Object.entries(object.metadata[member] ?? {}))
      object.metadata[member][key] = typeof each === "string" ? each : JSON.stringify(each);
  return object;
}

const requestOf = (object, operation = "CREATE") => ({
  uid: "1",
  kind: { group: "example.com", version: "v1", kind: "Widget" },
  resource: { group: "example.com", version: "v1", resource: "widgets" },
  name: "web",
  namespace: "ns",
  operation,
  userInfo: { username: "alice" },
  object,
  oldObject: operation === "UPDATE" ? object : null,
  dryRun: false,
  options: null,
});
const restMappings = [{ group: "example.com", version: "v1", kind: "Widget", resource: "widgets", namespaced: true }];
const caseOf = (id, policy, request, namespace, authorizer) => ({
  id,
  policies: [policy],
  bindings: [
    {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingAdmissionPolicyBinding",
      metadata: { name: "b" },
      spec: { policyName: policy.metadata.name, validationActions: ["Deny"] },
    },
  ],
  namespaces: [
    {
      apiVersion: "v1",
      kind: "Namespace",
      ...namespace,
      metadata: { ...namespace?.metadata, name: request.namespace },
    },
  ],
  restMappings,
  ...(authorizer && { authorizer: { rules: [], default: { decision: authorizer } } }),
  request: { ...request, dryRun: false, options: request.options ?? null, oldObject: request.oldObject ?? null },
});

/** What a plugin says of each case: whether it allows. */
function decisions(oracle, cases) {
  const { stdout, stderr } = spawnSync(oracle, ["-plugins", "1", "-dispatches", "1"], {
    input: cases.map((each) => JSON.stringify(each)).join("\n"),
    encoding: "utf8",
    maxBuffer: 2 ** 30,
  });
  if (stderr !== "") console.error(stderr.slice(0, 500));
  return new Map(
    stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
      .map(({ id, result }) => [id, result.error ?? result.allowed]),
  );
}
const differing = (cases) => {
  const [before, after] = [decisions(values.before, cases), decisions(values.after, cases)];
  return cases
    .filter(({ id }) => before.has(id) && after.has(id) && before.get(id) !== after.get(id))
    .map(({ id }) => id);
};

const mutants = Array.from({ length: Number(values.count) }, (_, i) => mutant(i));
const folder = mkdtempSync(join(tmpdir(), "mutants-"));
const file = join(folder, "mutants.yaml");
writeFileSync(file, mutants.map((each) => `---\n${JSON.stringify(each)}\n`).join(""));
const began = Date.now();
const { stdout } = spawnSync(process.execPath, [main, "check", file, "--upgrade", "1.38", "-o", "json"], {
  encoding: "utf8",
  maxBuffer: 2 ** 30,
});
const took = Date.now() - began;
const { problems } = JSON.parse(stdout);
const numberOf = ({ line }) => (line - 2) / 2;
const broken = new Set(problems.filter(({ severity }) => severity === "error").map(numberOf));
const named = new Map(
  problems.filter(({ witness }) => witness !== undefined).map((each) => [numberOf(each), each.witness]),
);
const cannot = new Set(problems.filter(({ message }) => /decides everything as before$/.test(message)).map(numberOf));

// This server's own two releases say first which objects are worth a question to the plugins: they take a hundred times as long.
const compilers = ["1.37", "1.38"].map((version) => createExpressionCompiler(version));
const made = mutants.flatMap((policy, i) => {
  if (broken.has(i)) return [];
  const cases = Array.from({ length: Number(values.objects) }, (_, j) =>
    caseOf(`${i}/${j}`, policy, requestOf(objectFor(policy), pick(["CREATE", "UPDATE"]))),
  );
  const answers = (each) => compilers.map((compiler) => decideCase(structuredClone(each), compiler).allowed);
  const likely = cases.filter((each) => new Set(answers(each)).size > 1).slice(0, 2);
  return [...likely, ...cases.slice(0, 2)];
});
const judged = differing(made);
const changed = new Set(judged.map((id) => Number(id.split("/")[0])));
const witnesses = Array.from(named, ([i, { request, namespaceObject, authorizer }]) =>
  caseOf(`${i}`, mutants[i], request, namespaceObject, authorizer),
);
const shown = new Set(differing(witnesses).map(Number));
const missed = [...changed].filter((i) => !named.has(i));
const false_ = [...named.keys()].filter((i) => !shown.has(i));
console.log(
  `${policies.length} public policies; ${mutants.length} mutants, ${mutants.length - broken.size} of them valid; check took ${took} ms`,
);
console.log(
  `the plugins decide ${changed.size} differently about the objects made here: ${changed.size - missed.length} found, ${missed.length} missed`,
);
console.log(
  `${named.size} named, ${shown.size} of them shown by their witness; ${cannot.size} said to be unchanged, ${[...changed].filter((i) => cannot.has(i)).length} of them wrongly`,
);
for (const i of missed)
  console.log(
    "missed",
    JSON.stringify(mutants[i].spec),
    "\n   ",
    JSON.stringify(made.find(({ id }) => id === judged.find((each) => each.startsWith(`${i}/`))).request.object),
  );
for (const i of false_)
  console.log("not shown", JSON.stringify(mutants[i].spec), "\n   ", JSON.stringify(named.get(i)));
process.exitCode = missed.length + false_.length > 0 ? 1 : 0;
