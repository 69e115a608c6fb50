/** ValidatingAdmissionPolicies and MutatingAdmissionPolicies from files, each with its bindings as a separate entry. */
import { readFile } from "node:fs/promises";
import { identityOf } from "../../config/documents/documents.js";
import { Origin } from "../../config/documents/origin.js";
import { parseResources, type SourceDocument } from "../../config/documents/source-document.js";
import { type Config, formatProblem, type ResourceEntry } from "../../config/index.js";
import { yamlText } from "../../data/yaml.js";
import type { JsonObject } from "../../kubernetes/object.js";
import type { Outcome } from "../../policy/index.js";
import { type Finding, plainFinding, type ReportedPolicy } from "../reports/finding.js";
import { ADMISSION_GROUP, type AdmissionPolicyDocuments, placeOf } from "./policy-files.js";
import { ScanError } from "./scan-error.js";

/** The id of a loaded policy: policies of two files may have the same name. */
export const idOf = (index: number, { name }: AdmissionPolicyDocuments): string => `${index}:${name}`;

/**
 * A configuration of only the policies.
 * @param beside documents that all of them may look up: Namespaces and parameters
 */
export function configurationOf(
  policies: readonly AdmissionPolicyDocuments[],
  beside: readonly SourceDocument[],
): Config {
  // A file of parameters may be that of the policies; what it says comes before what stands beside these.
  const given = beside.filter((each) => identityOf(each).group !== ADMISSION_GROUP);
  const keys = new Set(given.map(keyOf));
  const entries = policies.flatMap((policy, index): ResourceEntry[] => {
    const [first] = policy.documents;
    if (first === undefined) return [];
    return [
      {
        kind: "resource",
        id: idOf(index, policy),
        origin: new Origin(first, []),
        policyMode: "protect",
        allowedToMutate: true,
        documents: [...policy.documents.filter((each) => !keys.has(keyOf(each))), ...given],
        // The actions of bindings don't decide whether there is a failure.
        validationActions: ["Deny"],
      },
    ];
  });
  return { file: "", entries, files: [] };
}

function keyOf(document: SourceDocument): string {
  const { group, version, kind, namespace, name } = identityOf(document);
  return [group, version, kind, namespace, name].join("/");
}

/**
 * Namespaces and files with parameters as documents.
 * @param warnings receives warnings about them
 * @throws ScanError for unreadable files
 */
export async function documentsBeside(
  namespaces: readonly JsonObject[],
  paths: readonly string[],
  warnings: string[],
): Promise<SourceDocument[]> {
  const files = await Promise.all(
    paths.map(async (path) => {
      const bytes = await readFile(path).catch((cause: unknown) => {
        throw new ScanError(`failed to load resources (cannot read ${path})`, { cause });
      });
      return documentsOf(yamlText(bytes), path, warnings);
    }),
  );
  return [...namespaces.flatMap((each) => documentsOf(JSON.stringify(each), "values", warnings)), ...files.flat()];
}

function documentsOf(written: string, file: string, told: string[]): readonly SourceDocument[] {
  const { documents, problems, warnings } = parseResources(written, file);
  told.push(...warnings.map(formatProblem));
  const [problem] = problems;
  if (problem !== undefined) throw new ScanError(`failed to load resources (${file}: ${problem.message})`);
  if (documents.length === 0) throw new ScanError(`${file} holds no object`);
  return documents;
}

/** Such a policy in reports. */
export const reportedAdmissionPolicy = ({
  kind,
  name,
  annotations,
  documents,
}: AdmissionPolicyDocuments): ReportedPolicy => ({
  name,
  namespace: "",
  source: kind,
  annotations,
  process: "background scan",
  countsSkips: false,
  place: documents[0] && placeOf(documents[0]),
});

/** The message of a MutatingAdmissionPolicy that was applied. */
const APPLIED = "mutation is successfully applied";

/** The finding of an outcome in Kyverno's reports; `undefined` for a resource that the policy does not match. */
export function admissionPolicyFinding(
  { kind, name, bindings }: Pick<AdmissionPolicyDocuments, "kind" | "name" | "bindings">,
  outcome: Outcome,
): Omit<Finding, "policy"> | undefined {
  const { verdict, report } = outcome;
  if (verdict === "skip" && report?.passedOver !== "condition") return undefined;
  const plain = plainFinding(outcome);
  const said = verdict === "skip" ? "match conditions aren't met" : (report?.message ?? plain.message);
  const message = kind === "MutatingAdmissionPolicy" && plain.status === "pass" ? APPLIED : said;
  const binding = report?.binding ?? (bindings.length === 1 ? bindings[0] : undefined);
  return { ...plain, rule: name, message, properties: binding === undefined ? {} : { binding } };
}
