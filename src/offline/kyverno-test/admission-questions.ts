/** Evaluates a test's ValidatingAdmissionPolicies on its resources. */
import type { ReportedPolicy } from "../reports/finding.js";
import type { Judge } from "../scan/judge.js";
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
  if (paths.length === 0) return { about: async () => [] };
  const { admission } = await readPolicyFiles(paths, "");
  const beside = { namespaces: values.namespaces, parameterPaths: document.paramResources.map(at) };
  const told = { warnings: [] as string[], mistakes: [] as string[] };
  const judge = await openAdmissionPolicies(admission, beside, tools, told);
  for (const warning of told.warnings) warn(warning);
  for (const line of told.mistakes) mistake(line);
  return { about: (resource, circumstances) => answersOf(judge, resource, circumstances) };
}

/** Answers about a resource: a policy that does not match it excludes it. */
async function answersOf(
  judge: Judge,
  resource: Resource,
  circumstances: RequestCircumstances,
): Promise<readonly Answer[]> {
  const request = requestFor(resource, circumstances);
  const findings = await judge.judge({ kind: "resource", request, object: resource.object });
  return judge.policies.map((policy: ReportedPolicy, place) => {
    const found = findings.find((finding) => finding.policy === place);
    return { policy: policy.name, result: found && reportedResult(policy, found) };
  });
}
