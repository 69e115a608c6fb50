/** Evaluates a test's ValidatingAdmissionPolicies and MutatingAdmissionPolicies on its resources. */
import type { JsonObject } from "../../kubernetes/object.js";
import type { Finding, ReportedPolicy } from "../reports/finding.js";
import type { ResourceSubject } from "../scan/judge.js";
import { openAdmissionPolicies, type ScanTools } from "../scan/open-scan.js";
import { readPolicyFiles } from "../scan/policy-files.js";
import { type RequestCircumstances, requestFor } from "../scan/request.js";
import type { Resource } from "../scan/resource.js";
import { reportedResult } from "./answer-result.js";
import type { Answer } from "./answers.js";
import type { TestWords } from "./run.js";
import type { TestData } from "./test-world.js";

/** Evaluates policies on a resource. */
export interface AdmissionQuestions {
  /** The answers of those that mutate, and the object as they leave it; `undefined`: as it was. */
  mutate(
    resource: Resource,
    circumstances: RequestCircumstances,
  ): Promise<{ readonly answers: readonly Answer[]; readonly object: JsonObject | undefined }>;
  /** The answers of those that judge. */
  about(resource: Resource, circumstances: RequestCircumstances): Promise<readonly Answer[]>;
}

/**
 * Loads the policies of files. An invalid one is reported, and denies.
 * @param paths files with policies and their bindings
 * @throws ScanError for files of parameters that cannot be read
 */
export async function openAdmissionQuestions(
  paths: readonly string[],
  { document, at, values }: Pick<TestData, "document" | "at" | "values">,
  tools: Pick<ScanTools, "loader" | "policyTimeout" | "now" | "onDefect">,
  { warn, mistake }: Pick<TestWords, "warn" | "mistake">,
): Promise<AdmissionQuestions> {
  const { admission, mutatingAdmission } = await readPolicyFiles(paths, "");
  const beside = { namespaces: values.namespaces, parameterPaths: document.paramResources.map(at) };
  const told = { warnings: [] as string[], mistakes: [] as string[] };
  const judge = await openAdmissionPolicies(admission, beside, tools, told);
  const mutator = await openAdmissionPolicies(mutatingAdmission, beside, tools, told);
  for (const warning of told.warnings) warn(warning);
  for (const line of told.mistakes) mistake(line);
  const subjectOf = (resource: Resource, circumstances: RequestCircumstances): ResourceSubject => {
    return { kind: "resource", request: requestFor(resource, circumstances), object: resource.object };
  };
  return {
    mutate: async (resource, circumstances) => {
      const { findings, object } = await mutator.mutate(subjectOf(resource, circumstances));
      return { answers: answersOf(mutator.policies, findings), object };
    },
    about: async (resource, circumstances) =>
      answersOf(judge.policies, await judge.judge(subjectOf(resource, circumstances))),
  };
}

/** Answers about a resource: a policy that does not match it excludes it. */
const answersOf = (policies: readonly ReportedPolicy[], findings: readonly Finding[]): readonly Answer[] =>
  policies.map((policy, place) => {
    const found = findings.find((finding) => finding.policy === place);
    return { policy: policy.name, result: found && reportedResult(policy, found) };
  });
