/** `scaffold`: makes a policy with its test file, such that `check` and `test` pass at once. */
import { join } from "node:path";
import { type CommandIo, UsageError } from "../../data/command-io.js";
import { printable } from "../../data/printable.js";
import { paintFor } from "../look/paint.js";
import { celPlan } from "./cel.js";
import { groupPlan } from "./group.js";
import { kyvernoPlan } from "./kyverno.js";
import { manifestOf, modulePlan, readModule } from "./module.js";
import { checkedName, type Plan } from "./plan.js";
import { policiesOf, withEntry } from "./policies-yaml.js";
import { type ReviewOptions, reviewCommand } from "./review.js";
import { withSchemaLine } from "./schema-line.js";
import { vapPlan } from "./vap.js";
import { wasmPlan } from "./wasm.js";
import { type WrittenFile, writeAll } from "./write.js";

/** What can be made. */
export type ScaffoldKind = "cel" | "vap" | "kyverno" | "group" | "wasm" | "from-module" | "review";

/** Options of the commands. */
export interface ScaffoldOptions extends ReviewOptions {
  /** Where; default: here. */
  readonly folder?: string;
  /** Replace files that are there. */
  readonly force?: true;
  /** Print, write nothing. */
  readonly dryRun?: true;
  /** Of a `vap`: with a parameter. */
  readonly param?: true;
  /** Of a `group`: comma-separated ids. */
  readonly members?: string;
  /** Of `from-module`: what to call the policy. */
  readonly name?: string;
  /** Of `from-module`: print a manifest for a cluster instead. */
  readonly manifest?: true;
}

/**
 * Makes what is asked for.
 * @param target the name, or of `from-module` the module's file, of `review` the object's
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
      // Of the file that is there only what is new.
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

/** Options of one kind only. */
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
  /** The file that was there before. */
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
