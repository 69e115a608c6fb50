/** Converts policies of other programs into those that are served here, and prints them. */
import { identityOf, opened } from "../../config/documents/documents.js";
import type { SourceDocument } from "../../config/documents/source-document.js";
import { printYaml } from "../../data/print-yaml.js";
import { printable } from "../../data/printable.js";
import type { Conversion, Converted, Reader, Target } from "./conversion.js";
import { gatekeeper } from "./gatekeeper/reader.js";
import { kyverno } from "./kyverno/reader.js";

export type { Target } from "./conversion.js";

/** All readers: no kind of documents belongs to two. */
const READERS: readonly Reader[] = [gatekeeper, kyverno];

/** A conversion, with the number of documents that no reader reads. */
export interface WholeConversion extends Conversion {
  readonly others: number;
}

/** Converts documents of any mixture. */
export function convert(documents: readonly SourceDocument[], hasFolder: boolean, target?: Target): WholeConversion {
  const single = opened(documents);
  const shares = READERS.map((reader) => single.filter((document) => reader.reads(identityOf(document))));
  const made = READERS.map((reader, index) => reader.convert(shares[index] ?? [], hasFolder, target));
  return {
    policies: made.flatMap(({ policies }) => policies),
    problems: made.flatMap(({ problems }) => problems),
    others: single.length - shares.flat().length,
  };
}

/** The texts of all policies, as they are printed one after the other. */
export const printed = (policies: readonly Converted[], target?: Target): string =>
  policies.map((policy) => textOf(policy, target)).join(target === "cel" ? "\n" : "---\n");

/** The files of all policies, by their paths in a folder. */
export function filesOf(policies: readonly Converted[], target?: Target): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  const builds = buildsOf(policies);
  const heading = [
    "Build the modules in this folder first, with opa 1.0 or newer:",
    ...builds.map((each) => `  ${each}`),
  ];
  const entries = builds.length === 0 ? [] : [commented(heading)];
  for (const policy of policies) {
    if (isDocuments(policy, target)) files.set(`${policy.name}.yaml`, textOf(policy, target));
    else entries.push(textOf(policy, target));
    for (const [path, content] of policy.files) files.set(path, content.endsWith("\n") ? content : `${content}\n`);
  }
  if (entries.length > 0) files.set("policies.yaml", entries.join("\n"));
  return files;
}

/** The commands that build modules, to be run in the folder. */
export const buildsOf = (policies: readonly Converted[]): readonly string[] => [
  ...new Set(policies.flatMap(({ build }) => (build === "" ? [] : [build]))),
];

const isDocuments = ({ documents }: Converted, target?: Target): boolean => target !== "cel" && documents.length > 0;

function textOf(policy: Converted, target?: Target): string {
  const parts = isDocuments(policy, target)
    ? policy.documents.map((each) => printYaml(each)).join("---\n")
    : Object.entries(policy.entries)
        .map(([key, entry]) => printYaml({ [key]: entry }))
        .join("\n");
  return commented(policy.comments) + parts;
}

const commented = (lines: readonly string[]): string =>
  lines.map((line) => `${`# ${printable(line)}`.trimEnd()}\n`).join("");
