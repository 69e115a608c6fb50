/** `scaffold group`: a group of existing policies of policies.yaml, and a test file with its present answer. */
import { join } from "node:path";
import { buildRequest } from "../../admission/build-request.js";
import { admissionQuestion } from "../../admission/decode.js";
import { type CommandIo, UsageError } from "../../data/command-io.js";
import { inlineYaml, yamlName } from "../../data/print-yaml.js";
import { didYouMean } from "../../data/suggest.js";
import { createEvaluator } from "../../policy/served/evaluator.js";
import type { Verdict } from "../../policy/served/verdict.js";
import { nextCommands, pod } from "./fixtures.js";
import { withLoaded } from "./loaded.js";
import type { Plan } from "./plan.js";
import { configOf, type PoliciesFile, withEntry } from "./policies-yaml.js";

/** The place of the new group. */
export interface GroupPlace {
  readonly folder: string;
  readonly policies: PoliciesFile;
  readonly env: CommandIo["env"];
}

/** Words of CEL that can't be names of functions. */
const RESERVED = new Set(
  "as break const continue else false for function if import in let loop namespace null package return true var void while".split(
    " ",
  ),
);

/**
 * The plan of the group.
 * @param members ids of policies, in order
 * @throws UsageError for members that are missing, or can't be loaded
 */
export async function groupPlan(name: string, members: readonly string[], place: GroupPlace): Promise<Plan> {
  const { folder, policies } = place;
  const known = configOf(policies, folder).entries.map(({ id }) => id);
  if (known.length === 0)
    throw new UsageError(
      `a group has members, and ${join(folder, policies.name)} has no policies yet: make some first, as with scaffold cel`,
    );
  const choice = `known are ${known.join(", ")}`;
  if (members.length === 0) throw new UsageError(`which members? --members a,b; ${choice}`);
  for (const member of members)
    if (!known.includes(member))
      throw new UsageError(`there is no policy '${member}'${didYouMean(member, known)}; ${choice}`);
  refuseSameFunctions(members);
  const entry = { id: name, text: entryText(name, members) };
  const verdict = await askedNow(name, members, withEntry(policies, folder, entry), place);
  const own = `policies/${name}`;
  return {
    entry,
    files: [
      { path: `${own}/${name}.test.yaml`, content: test(name, members, verdict) },
      pod(`${own}/pod.yaml`, "A Pod to ask about.", "team: shop"),
    ],
    next: nextCommands(policies.name, name, own, "pod.yaml"),
  };
}

/** The function name of a policy in an expression. */
function functionName(id: string): string {
  const name = id.replaceAll(/[^A-Za-z0-9_]/g, "_");
  return /^[0-9]/.test(name) || RESERVED.has(name) ? `_${name}` : name;
}

/** Refuses members with the same function name, such as `a-b` and `a_b`. */
function refuseSameFunctions(members: readonly string[]): void {
  const called = new Map<string, string>();
  for (const member of members) {
    const other = called.get(functionName(member));
    if (other !== undefined)
      throw new UsageError(
        `'${other}' and '${member}' would both be called ${functionName(member)}(): scaffold with one of them, and add the other by hand, by a name of your own`,
      );
    called.set(functionName(member), member);
  }
}

function entryText(name: string, members: readonly string[]): string {
  const calls = members.map((member) => `${functionName(member)}()`).join(" && ");
  const list = members
    .map((member) => `    ${yamlName(functionName(member))}: { policy: ${inlineYaml(member)} }\n`)
    .join("");
  return `# A group: what its members say, in one expression of &&, ||, ! and ?:. A member that is not needed is not asked.
${yamlName(name)}:
  expression: ${inlineYaml(calls)}
  message: "not allowed by ${name}"
  policies:
${list}`;
}

/** Evaluates the group on the Pod of the test file. */
function askedNow(
  name: string,
  members: readonly string[],
  text: string,
  { folder, policies, env }: GroupPlace,
): Promise<Verdict> {
  const path = join(folder, policies.name);
  return withLoaded(text, path, env, async (loaded, policyTimeout) => {
    const entry = loaded.policies.entries.get(name);
    if (entry === undefined || entry.unavailable !== undefined) {
      const why = loaded.problems.find((problem) => problem.path[0] === name && problem.severity === "error")?.message;
      throw new UsageError(
        `the group could not be loaded: ${why ?? entry?.unavailable ?? "it is not there"}; check ${path} first`,
      );
    }
    // A group's answer without one of its members is not worth a test.
    for (const member of members) {
      const why = loaded.policies.entries.get(member)?.unavailable;
      if (why !== undefined)
        throw new UsageError(
          `the member '${member}' could not be loaded: ${why}; mend what check says of ${path} first`,
        );
    }
    const object = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "web", namespace: "default", labels: { team: "shop" } },
      spec: { containers: [{ name: "web", image: "registry.example.com/web:v1" }] },
    };
    const review = admissionQuestion(buildRequest({ object, operation: undefined, namespace: undefined }));
    return createEvaluator(loaded.policies, { policyTimeout }).evaluate(entry, { review, origin: "validate" });
  });
}

function test(name: string, members: readonly string[], { outcome, observations }: Verdict): string {
  const said = members.map(functionName).map((member) => {
    const observed = observations.findLast(({ policy }) => policy === `${name}/${member}`);
    return `      ${yamlName(member)}: ${observed?.outcome.verdict ?? "not evaluated"}\n`;
  });
  return `# npx policy-server test policies/${name}
policy: ${yamlName(name)}
cases:
  # What the group answers today: look whether that is what it should.
  - name: a Pod
    object: pod.yaml
    expect: ${outcome.verdict}
    members:
${said.join("")}`;
}
