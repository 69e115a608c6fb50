/** `scaffold wasm`: a separate folder with a policy in AssemblyScript, which npm builds and tests. */

import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { parseJson } from "../../data/json.js";
import { yamlName } from "../../data/print-yaml.js";
import { VERSION } from "../../data/version.js";
import type { Plan, PlannedFile } from "./plan.js";

/** The dependency of a scaffolded folder on this package. */

const NAME = "policy-group-gateway";
/** A dependency that is a file or folder: relative to its package.json. */
const LOCAL = /^(?:file|link):(?!\/)(.*)$/;

/** The dependency of the nearest package.json above the folder, if one has it, perhaps from a file. Otherwise this version. */
function dependencyFrom(folder: string): string {
  let above = dirname(resolve(folder));
  for (let last = ""; above !== last; last = above, above = dirname(above)) {
    const written = dependencyIn(join(above, "package.json"));
    if (written === undefined) continue;
    const [, path] = LOCAL.exec(written) ?? [];
    if (path === undefined) return written;
    const moved = relative(resolve(folder), resolve(above, path)).split(sep).join("/");
    return `file:${moved}`;
  }
  return VERSION;
}

function dependencyIn(file: string): string | undefined {
  try {
    const { dependencies, devDependencies } = parseJson(readFileSync(file, "utf8")) as Record<string, unknown>;
    for (const list of [dependencies, devDependencies]) {
      if (typeof list !== "object" || list === null || !Object.hasOwn(list, NAME)) continue;
      const written: unknown = (list as Record<string, unknown>)[NAME];
      if (typeof written === "string") return written;
    }
  } catch {
    // There is no package.json, or an unreadable one.
  }
  return undefined;
}

/** Build tools of a policy: the versions that build this package's own policies. */
export const TOOLS = { "@extism/as-pdk": "1.0.0", assemblyscript: "0.28.20", "json-as": "1.6.0" } as const;

/**
 * The plan of a policy in AssemblyScript.
 * @param folder the parent of the policy's folder
 */
export function wasmPlan(name: string, folder: string): Plan {
  const files: readonly PlannedFile[] = [
    { path: "package.json", content: packageJson(name, dependencyFrom(join(folder, name))) },
    { path: "asconfig.json", content: asconfig() },
    { path: "assembly/policy.ts", content: POLICY },
    {
      path: "assembly/tsconfig.json",
      content: json({ extends: "assemblyscript/std/assembly.json", include: ["./**/*.ts"] }),
    },
    { path: "policies.yaml", content: policies(name) },
    { path: `${name}.test.yaml`, content: TEST },
    { path: "pod.yaml", content: POD },
    { path: ".gitignore", content: "node_modules/\npolicy.wasm\n" },
    { path: "README.md", content: readme(name) },
  ];
  return {
    files: files.map(({ path, content }) => ({ path: `${name}/${path}`, content })),
    next: [`cd ${name}`, "npm install", "npm test"],
  };
}

const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;

const packageJson = (name: string, ownPackage: string): string =>
  json({
    name,
    version: "0.1.0",
    private: true,
    type: "module",
    scripts: {
      build: "asc assembly/policy.ts --target release",
      test: "npm run build && policy-server test",
      watch: "policy-server test --watch",
      start: "npm run build && policy-server serve --port 3000",
    },
    devDependencies: { ...TOOLS, "policy-group-gateway": ownPackage },
  });

const asconfig = (): string =>
  json({
    targets: {
      // A debug build takes a third of the time.
      debug: { outFile: "policy.wasm", debug: true },
      release: {
        outFile: "policy.wasm",
        optimizeLevel: 3,
        shrinkLevel: 2,
        converge: true,
      },
    },
    options: {
      transform: ["json-as"],
      // Each call has an instance of its own: nothing has to be freed.
      runtime: "stub",
      use: ["abort=~lib/policy-group-gateway/assemblyscript/abort/abort"],
    },
  });

const POLICY = `// Pods say whose they are. Settings: \`label\`, the label that they need.
// The file is not called index.ts: json-as drops what an entry file of that name exports.
import { asText, isPresent, member } from "policy-group-gateway/assemblyscript/json";
import { accept, objectOf, payload, reject, settingsInvalid, settingsOf, settingsValid, warn } from "policy-group-gateway/assemblyscript/policy";

/** Asked about every request: answers by accept, reject or mutate. */
export function validate(): i32 {
  const asked = payload();
  const object = objectOf(asked);
  // When something is deleted there is no object.
  if (object === null) return accept();
  const label = asText(member(settingsOf(asked), "label"))!;
  const value = asText(member(member(member(object, "metadata"), "labels"), label));
  if (value === null) return reject(\`the label \${label} is missing\`, 403);
  if (value == "unknown") warn(\`the value of the label \${label} is unknown\`);
  return accept();
}

/** Asked once at load, before any request: with settings that it refuses the policy is not served. */
export function validate_settings(): i32 {
  const label = member(payload(), "label");
  if (!isPresent(label)) return settingsInvalid("label is missing");
  const text = asText(label);
  if (text === null || text.length == 0) return settingsInvalid("label must be a text that is not empty");
  return settingsValid();
}
`;

const policies = (
  name: string,
): string => `# What policy-server serves in this folder; in another policies.yaml the entry looks the same.
${yamlName(name)}:
  module: policy.wasm
  settings:
    label: team
`;

const TEST = `# npm test
module: policy.wasm
settings: { label: team }
cases:
  - name: a Pod with the label
    object: { apiVersion: v1, kind: Pod, metadata: { name: web, labels: { team: shop } } }
    expect: allow
    warnings: []
  - name: a Pod without it
    object: pod.yaml
    expect: deny
    message: the label team is missing
    code: 403
  - name: an unknown value is accepted with a warning
    object: { apiVersion: v1, kind: Pod, metadata: { name: web, labels: { team: unknown } } }
    expect: allow
    warnings: [the value of the label team is unknown]
  - name: another label
    settings: { label: owner }
    object: pod.yaml
    expect: deny
    message: the label owner is missing
  - name: a deletion has nothing to look at
    object: pod.yaml
    operation: DELETE
    expect: allow
  - name: the settings need a label
    settings: {}
    expect: refused
    messageContains: label is missing
  - name: a number is not a label
    settings: { label: 1 }
    expect: refused
    messageContains: label must be a text
`;

const POD = `# A Pod that the policy denies.
apiVersion: v1
kind: Pod
metadata:
  name: web
  namespace: default
spec:
  containers:
    - name: web
      image: registry.example.com/web:v1
`;

const readme = (name: string): string => `# ${name}

A policy for policy-server, in AssemblyScript.

| Command | What it does |
| --- | --- |
| \`npm install\` | gets the compiler and policy-server |
| \`npm run build\` | compiles \`assembly/policy.ts\` to \`policy.wasm\` |
| \`npm test\` | builds, and runs the cases of \`${name}.test.yaml\` |
| \`npm start\` | builds, and serves \`policies.yaml\` on port 3000 |

Another policies.yaml names the module by its path or address, with its settings:

\`\`\`yaml
${yamlName(name)}:
  module: ${name}/policy.wasm
  settings:
    label: team
\`\`\`

What a policy can read and answer: \`docs/writing-modules.md\` in the folder of the package policy-group-gateway.
`;
