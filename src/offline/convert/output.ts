/** Converted policies as texts: documents of a cluster, or entries of policies.yaml. */
import { printYaml } from "../../data/print-yaml.js";
import type { JsonObject } from "../../kubernetes/object.js";
import { type CelPolicy, isCelPolicy, type ModulePolicy } from "./conversion.js";

/** The forms of policies in CEL: ValidatingAdmissionPolicies with their bindings, or entries with `cel:`. */
export const TARGETS = ["vap", "cel"] as const;
export type Target = (typeof TARGETS)[number];

const API_VERSION = "admissionregistration.k8s.io/v1";
const ENTRIES = "policies.yaml";

/** The texts of all policies, as they are printed one after the other. Modules are entries. */
export function printed(policies: readonly (CelPolicy | ModulePolicy)[], target: Target): string {
  const texts = policies.map((policy) =>
    isCelPolicy(policy) && target === "vap" ? documents(policy) : entries(policy),
  );
  return texts.join(target === "vap" ? "---\n" : "\n");
}

/** The files of all policies, by their paths in a folder. */
export function filesOf(policies: readonly (CelPolicy | ModulePolicy)[], target: Target): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  const listed: string[] = [];
  const builds = buildsOf(policies);
  for (const policy of policies) {
    if (isCelPolicy(policy) && target === "vap") {
      const own = `${policy.name}.yaml`;
      files.set(own === ENTRIES ? `${policy.name}-policy.yaml` : own, documents(policy));
      continue;
    }
    listed.push(entries(policy));
    for (const [path, content] of isCelPolicy(policy) ? [] : policy.files)
      files.set(path, content.endsWith("\n") ? content : `${content}\n`);
  }
  const heading = [
    "Build the modules in this folder first, with opa 1.0 or newer:",
    ...builds.map((each) => `  ${each}`),
  ];
  if (builds.length > 0) listed.unshift(commented(heading));
  if (listed.length > 0) files.set(ENTRIES, listed.join("\n"));
  return files;
}

/** The commands that build modules, to be run in the folder. */
export const buildsOf = (policies: readonly (CelPolicy | ModulePolicy)[]): readonly string[] => [
  ...new Set(policies.flatMap((policy) => (isCelPolicy(policy) ? [] : [policy.build]))),
];

const commented = (lines: readonly string[]): string => lines.map((line) => `${`# ${line}`.trimEnd()}\n`).join("");

/** A policy with its bindings, as documents. */
function documents({ name, comments, labels, annotations, spec, actions, scopes }: CelPolicy): string {
  const metadata = {
    name,
    ...(Object.keys(labels).length > 0 && { labels }),
    ...(Object.keys(annotations).length > 0 && { annotations }),
  };
  const policy = { apiVersion: API_VERSION, kind: "ValidatingAdmissionPolicy", metadata, spec };
  const bindings = scopes.map(({ suffix, matchResources }) => ({
    apiVersion: API_VERSION,
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name: `${name}${suffix}` },
    spec: {
      policyName: name,
      validationActions: actions,
      ...(Object.keys(matchResources).length > 0 && { matchResources }),
    },
  }));
  return `${commented(comments)}${[policy, ...bindings].map((each) => printYaml(each)).join("---\n")}`;
}

/** The entries of a policy: one for each scope. */
function entries(policy: CelPolicy | ModulePolicy): string {
  const comments = commented(policy.comments);
  if (!isCelPolicy(policy)) return `${comments}${printYaml({ [policy.name]: policy.entry })}`;
  const { name, spec, actions, scopes } = policy;
  const isDenying = actions.length === 1 && actions[0] === "Deny";
  const made = scopes.map(({ suffix, matchResources }): readonly [string, JsonObject] => [
    `${name}${suffix}`,
    {
      cel: { ...spec, matchConstraints: { ...(spec.matchConstraints as JsonObject), ...matchResources } },
      ...(!isDenying && { validationActions: actions }),
    },
  ]);
  return `${comments}${made.map(([key, entry]) => printYaml({ [key]: entry })).join("\n")}`;
}
