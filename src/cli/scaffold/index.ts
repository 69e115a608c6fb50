/** `scaffold`: makes a policy with its test file; `check` and `test` pass at once. */

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname, join, posix } from "node:path";
import { buffer } from "node:stream/consumers";
import type { AdmissionRequest } from "../../admission/admission-request.js";
import { buildRequest } from "../../admission/build-request.js";
import { type CommandIo, say, UsageError } from "../../data/command-io.js";
import { stringifyJson } from "../../data/json.js";
import { yamlName } from "../../data/print-yaml.js";
import { printable } from "../../data/printable.js";
import { parseSuspectYaml, warningText, YamlError, yamlText } from "../../data/yaml.js";
import { paintFor } from "../look/paint.js";
import { nextCommands, pod } from "./fixtures.js";
import { groupPlan } from "./group.js";
import { kyvernoPlan } from "./kyverno.js";
import { manifestOf, modulePlan, readModule } from "./module.js";
import { checkedName, type Plan, type PlannedFile } from "./plan.js";
import { policiesOf, withEntry } from "./policies-yaml.js";
import { vapPlan } from "./vap.js";
import { wasmPlan } from "./wasm.js";
import { type WrittenFile, writeAll } from "./write.js";

// `scaffold cel`: an inline CEL policy, its test file and two objects.

/** The plan of a CEL policy. */
function celPlan(name: string, policies: string): Plan {
  const folder = `policies/${name}`;
  return {
    entry: { id: name, text: entry(name) },
    files: [
      { path: `${folder}/${name}.test.yaml`, content: test(name) },
      pod(`${folder}/good.yaml`, "A Pod that the policy allows.", "team: shop"),
      pod(`${folder}/bad.yaml`, "A Pod that the policy denies: it has no label."),
    ],
    next: nextCommands(policies, name, folder, "bad.yaml"),
  };
}

const entry = (
  name: string,
): string => `# A CEL policy: Pods say whose they are. The keys below cel: are those of a ValidatingAdmissionPolicy's spec.
${yamlName(name)}:
  cel:
    # What it is asked about; without matchConstraints, everything.
    matchConstraints:
      resourceRules:
        - apiGroups: [""]
          apiVersions: ["v1"]
          operations: ["CREATE", "UPDATE"]
          resources: ["pods"]
    variables:
      - name: labels
        expression: "object.metadata.?labels.orValue({})"
    validations:
      # True allows. All of them must be true.
      - expression: "'team' in variables.labels"
        message: "the label team is missing"
`;

const test = (name: string): string => `# npx policy-server test policies/${name}
policy: ${yamlName(name)}
cases:
  - name: a Pod with the label
    object: good.yaml
    expect: allow
  - name: a Pod without it
    object: bad.yaml
    expect: deny
    messageContains: the label team is missing
  - name: other kinds are none of its business
    object: { apiVersion: v1, kind: ConfigMap, metadata: { name: settings, namespace: default } }
    expect: skip
`;

// `scaffold review`: the AdmissionReview that an API server would send about an object, for requests by hand.

/** Options of the review beside the object. */
interface ReviewOptions {
  readonly operation?: string;
  /** A file with the object's former state. */
  readonly old?: string;
  /** Default: the object's own. */
  readonly namespace?: string;
}

/**
 * Prints the review as one line of JSON.
 * @param file a file with the object, `-` for standard input
 * @throws UsageError unless it has a single object
 */
async function reviewCommand(
  file: string,
  { old, operation, namespace }: ReviewOptions,
  io: CommandIo,
): Promise<number> {
  const object = await objectIn(file, io);
  const before = old === undefined ? {} : { oldObject: await objectIn(old, io) };
  const doubt = (text: string): void => say(io.stderr, `warning: ${file}: ${text}`);
  let request: AdmissionRequest;
  try {
    request = buildRequest({ object, ...before, operation, namespace, doubt });
  } catch (error) {
    if (!(error instanceof UsageError) || error.key !== undefined) throw error;
    throw new UsageError(`${file}: ${error.message}`, { cause: error });
  }
  io.stdout.write(`${stringifyJson({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request })}\n`);
  return 0;
}

async function objectIn(file: string, io: CommandIo): Promise<unknown> {
  const content = file === "-" ? await buffer(io.stdin) : await readFile(file).catch(() => undefined);
  if (content === undefined) throw new UsageError(`cannot read ${file}`);
  try {
    const documents = parseSuspectYaml(yamlText(content), (doubt) =>
      say(io.stderr, `warning: ${warningText(doubt, file)}`),
    );
    if (documents.length !== 1)
      throw new UsageError(`${file} holds ${documents.length} documents, expected one object`);
    return documents[0];
  } catch (error) {
    if (error instanceof YamlError) throw new UsageError(warningText(error, file), { cause: error });
    throw error;
  }
}

const DOCS = "node_modules/policy-group-gateway/docs";

/**
 * The file with a schema line, if the package is, or will be, in a folder of the project.
 * @param folder the folder of the files
 * @param own a folder below it that gets its own packages
 */
function withSchemaLine(file: PlannedFile, folder: string, own?: string): PlannedFile {
  const { path, content } = file;
  const name = /\.test\.yaml$/.test(path) ? "tests" : /^policies\.ya?ml$/.test(basename(path)) ? "policies" : undefined;
  if (name === undefined) return file;
  const schema = `${DOCS}/${name}.schema.json`;
  if (own === undefined && !existsSync(join(folder, schema))) return file;
  const way = posix.relative(dirname(path), posix.join(own ?? "", schema));
  return { path, content: `# yaml-language-server: $schema=${way.startsWith(".") ? way : `./${way}`}\n${content}` };
}

/** Kinds of scaffolds. */
export type ScaffoldKind = "cel" | "vap" | "kyverno" | "group" | "wasm" | "from-module" | "review";

/** Options of the commands. */
export interface ScaffoldOptions extends ReviewOptions {
  /** The folder; default: the working directory. */
  readonly folder?: string;
  /** Whether to replace existing files. */
  readonly force?: true;
  /** Whether to print instead of writing. */
  readonly dryRun?: true;
  /** For `vap`: with a parameter. */
  readonly param?: true;
  /** For `group`: comma-separated ids. */
  readonly members?: string;
  /** For `from-module`: the policy's name. */
  readonly name?: string;
  /** For `from-module`: print a manifest for a cluster instead. */
  readonly manifest?: true;
}

/**
 * Makes a scaffold.
 * @param target the name; for `from-module` the module's file, for `review` the object's
 * @returns the exit code
 * @throws UsageError when nothing was made
 */
export async function scaffoldCommand(
  kind: ScaffoldKind,
  target: string,
  options: ScaffoldOptions,
  io: CommandIo,
): Promise<number> {
  refuseOthers(kind, options);
  if (kind === "review") return reviewCommand(target, options, io);
  const { folder = ".", manifest } = options;
  if (kind === "from-module" && manifest === true) {
    io.stdout.write(manifestOf(await readModule(target, options.name)));
    return 0;
  }
  const policies = await policiesOf(folder);
  const plan = await planOf(kind, target, options, io);
  const own = kind === "wasm" ? target : undefined;
  const files: WrittenFile[] = plan.files.map((file) => ({
    ...withSchemaLine(file, folder, own),
    replaces: options.force === true,
  }));
  if (plan.entry !== undefined) {
    const whole = { path: policies.name, content: withEntry(policies, folder, plan.entry) };
    files.push({ ...(policies.text === undefined ? withSchemaLine(whole, folder) : whole), replaces: true });
  }
  if (options.dryRun === true) {
    for (const { path, content } of files) {
      // Of an existing file only the new text.
      const isAdded = path === policies.name && policies.text !== undefined && plan.entry !== undefined;
      io.stdout.write(
        `--- ${printable(join(folder, path))}${isAdded ? " (added)" : ""}\n${isAdded ? plan.entry.text : content}`,
      );
    }
    return 0;
  }
  await writeAll(folder, files);
  tell(plan, files, { folder, changed: policies.text === undefined ? undefined : policies.name }, io);
  return 0;
}

/** Options of a single kind. */
const OPTION_OF = {
  param: "vap",
  members: "group",
  name: "from-module",
  manifest: "from-module",
  operation: "review",
  old: "review",
  namespace: "review",
} as const;

function refuseOthers(kind: ScaffoldKind, options: ScaffoldOptions): void {
  for (const [option, of] of Object.entries(OPTION_OF))
    if (of !== kind && options[option as keyof typeof OPTION_OF] !== undefined)
      throw new UsageError(`--${option} is for scaffold ${of}, and not for ${kind}`);
}

async function planOf(
  kind: Exclude<ScaffoldKind, "review">,
  target: string,
  options: ScaffoldOptions,
  io: CommandIo,
): Promise<Plan> {
  const { folder = "." } = options;
  const policies = await policiesOf(folder);
  switch (kind) {
    case "cel":
      return celPlan(checkedName(target), policies.name);
    case "vap":
      return vapPlan(checkedName(target), policies.name, options.param === true);
    case "kyverno":
      return kyvernoPlan(checkedName(target), policies.name);
    case "group": {
      const members = (options.members ?? "")
        .split(",")
        .map((each) => each.trim())
        .filter((each) => each !== "");
      if (new Set(members).size < members.length)
        throw new UsageError("a member is named twice: each can be called as often as you like");
      return groupPlan(checkedName(target), members, { folder, policies, env: io.env });
    }
    case "wasm":
      return wasmPlan(checkedName(target), folder);
    case "from-module":
      return modulePlan(await readModule(target, options.name), folder, policies.name, io.env);
  }
}

interface Told {
  readonly folder: string;
  /** The existing file that was changed. */
  readonly changed: string | undefined;
}

function tell({ entry, next }: Plan, files: readonly WrittenFile[], { folder, changed }: Told, io: CommandIo): void {
  const paint = paintFor(io.stdout, io.env);
  const lines = files.map(({ path }) => {
    const place = paint("name", printable(join(folder, path)));
    return path === changed && entry !== undefined
      ? `${paint("good", "changed")} ${place}: ${entry.id} was added`
      : `${paint("good", "made")} ${place}`;
  });
  const commands = folder === "." ? next : [`cd ${folder}`, ...next];
  io.stdout.write(`${lines.join("\n")}\n\nnext:\n${commands.map((command) => `  ${printable(command)}`).join("\n")}\n`);
}
