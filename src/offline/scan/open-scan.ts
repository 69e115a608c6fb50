/** Prepares a plan: policies are read, compiled and put into their world. */

import { opened } from "../../config/documents/documents.js";
import { type Config, type ConfigEntry, formatProblem, loadConfig } from "../../config/index.js";
import {
  Authorizer,
  type PreparedAuthorization,
  prepareAuthorization,
} from "../../kinds/kyverno/authorization/index.js";
import {
  type CompiledPolicy,
  type CompileFailure,
  expiredText,
  isMutating,
  preparePolicies,
} from "../../kinds/kyverno/index.js";
import { parseContextFile } from "../../kinds/kyverno/offline/index.js";
import { type JsonObject, member } from "../../kubernetes/object.js";
import type { PolicyLoader } from "../../loader/index.js";
import type { ServedPolicy } from "../../policy/served/policy-set.js";
import { NO_OPINION } from "../../world/authorizer/authorizer.js";
import type { ExternalData } from "../../world/external.js";
import type { HttpSource } from "../../world/http/http-source.js";
import type { ImageSource } from "../../world/images/image-source.js";
import type { ImageTrust } from "../../world/images/image-trust.js";
import { KnownKinds as ExternalKinds } from "../../world/objects/known-kinds.js";
import { commandLineData } from "../../world/offline-values.js";
import { FileResources } from "../../world/resources/file-resources.js";
import type { World } from "../../world/world.js";
import { type Finding, plainFinding, type ReportedPolicy } from "../reports/finding.js";
import {
  admissionPolicyFinding,
  configurationOf,
  documentsBeside,
  idOf,
  reportedAdmissionPolicy,
} from "./admission-policies.js";
import {
  CERTIFICATE_REQUESTS,
  certificateRequestFinding,
  certificateRequestsConfig,
  ENTRY_ID,
  isCertificateRequest,
  reportedCertificateRequestPolicies,
} from "./certificate-request-policies.js";
import { ClusterListing, EVERYTHING, type ListedCluster, wantedBy } from "./cluster-listing.js";
import { convertedExceptions, exceptionsOrThrow } from "./exceptions.js";
import type { Judge, Subject } from "./judge.js";
import { KnownKinds } from "./known-kinds.js";
import { isForJson, KyvernoJudge, KyvernoMutator, reportedPolicy } from "./kyverno-judge.js";
import { type JudgingPolicy, OutcomeJudge } from "./outcome-judge.js";
import {
  type AdmissionPolicyDocuments,
  type CertificateRequestPolicyDocuments,
  type PolicyFiles,
  readPolicyFiles,
} from "./policy-files.js";
import { ScanError } from "./scan-error.js";
import type { ScanPlan } from "./scan-plan.js";
import { Scanner } from "./scanner.js";

// Evaluates policies for an authorization server on requests from files (spec kyverno.md 6.3).

const NOTHING: readonly Finding[] = [];

/** Evaluates requests of the policies' modes only. */
class AuthorizationJudge implements Judge {
  readonly policies: readonly ReportedPolicy[];
  readonly #authorizer: Authorizer;
  readonly #places: ReadonlyMap<unknown, number>;

  constructor({ policies }: PreparedAuthorization, world: World, places: PolicyFiles["places"]) {
    this.policies = policies.map(({ resource }) => reportedPolicy(resource, places.get(resource)));
    this.#authorizer = new Authorizer(policies, world);
    this.#places = new Map(policies.map(({ resource }, place) => [resource, place]));
  }

  judge(subject: Subject): readonly Finding[] | Promise<readonly Finding[]> {
    return subject.kind === "authorization" ? this.#ask(subject) : NOTHING;
  }

  async #ask({ request }: Extract<Subject, { readonly kind: "authorization" }>): Promise<readonly Finding[]> {
    const answers = await this.#authorizer.about(request);
    return answers.map(({ policy, rule, status, message }) => ({
      policy: this.#places.get(policy) ?? 0,
      rule,
      status,
      message,
      properties: {},
      exceptions: [],
    }));
  }
}

// Policies of a policies.yaml, by their ids: of any kind, including groups and their members.

/** The configuration with only the entries that these ids need. */
function onlyNeeded(config: Config, ids: readonly string[]): Config {
  const entries = new Map(config.entries.map((entry) => [entry.id, entry]));
  const needed = new Set<ConfigEntry>();
  const take = (id: string): void => {
    const entry = entries.get(id) ?? entries.get(id.slice(0, Math.max(id.indexOf("/"), 0)));
    if (entry === undefined || needed.has(entry)) return;
    needed.add(entry);
    if (entry.kind !== "group") return;
    for (const { policy } of entry.members) if (policy.kind === "reference") take(policy.id);
  };
  for (const id of ids) take(id);
  return { ...config, entries: config.entries.filter((entry) => needed.has(entry)) };
}

/** A cluster as the source of resources and of policies' look-ups. */
export interface ClusterSource {
  readonly world: World;
  readonly external: ExternalData;
  readonly client: ListedCluster;
  /** The namespace of resources; `""`: all, and cluster-scoped ones. */
  readonly namespace: string;
}

/** The tools of a scan. */
export interface ScanTools {
  /** Loads policies of other kinds than Kyverno's; created when there are any. */
  readonly loader: () => PolicyLoader;
  /** Milliseconds that a policy of those kinds may take. */
  readonly policyTimeout: number;
  /** HTTP requests of expressions. */
  readonly http: HttpSource;
  /** Signatures of images. */
  readonly trust: ImageTrust;
  /** Images that no context file describes; absent: there are none. */
  readonly images?: ImageSource;
  /** A cluster in place of files. */
  readonly cluster?: ClusterSource;
  /** Called when a policy breaks its contract. */
  readonly onDefect: (policy: string, error: unknown) => void;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Milliseconds since 1970. */
  readonly date: () => number;
}

/** A prepared scan. */
export interface OpenedScan extends Pick<PolicyFiles, "unserved" | "places" | "mistakes" | "empty" | "foreign"> {
  readonly scanner: Scanner;
  /** Number of loaded policies, including those that don't compile. */
  readonly rules: number;
  /** Number of exceptions. */
  readonly exceptions: number;
  /** The cluster's resources, if there is one. */
  readonly listing: ClusterListing | undefined;
  /** Policies that don't compile: in Kyverno's order, those for payloads last. */
  readonly failures: readonly CompileFailure[];
  /** Policies for an authorization server, with those that don't compile. */
  readonly authorization: PreparedAuthorization;
  readonly warnings: readonly string[];
}

/**
 * Prepares a plan.
 * @throws ScanError
 */
export async function openScan(plan: ScanPlan, tools: ScanTools): Promise<OpenedScan> {
  const files = await readPolicyFiles(plan.policyPaths, plan.stdin, plan.values.old);
  const { unserved, places, empty, foreign } = files;
  const given = [...plan.exceptions, ...(plan.exceptionsWithinPolicies ? exceptionsOrThrow(files) : [])];
  const idle: string[] = [];
  const exceptions = convertedExceptions(given, files.old, (line) => idle.push(line));
  const { policies, failures } = preparePolicies(files.kyverno, exceptions);
  const listing = await listingFor(plan, files, policies, tools);
  const kinds = listing?.kinds ?? new KnownKinds(plan.definitions);
  const told: Told = {
    warnings: [...files.warnings, ...idle, ...exceptions.flatMap((each) => expiredText(each, tools.date()) ?? [])],
    mistakes: [...files.mistakes],
  };
  const authorization = prepareAuthorization(files.authorization);
  const world = kyvernoWorld(plan, tools);
  const judging = policies.filter(({ resource }) => !isMutating(resource));
  const mutating = policies.filter(({ resource }) => isMutating(resource));
  const mutators = [
    ...(await mutatingAdmissionPolicies(files.mutatingAdmission, plan, tools, told)),
    ...(mutating.length === 0 ? [] : [new KyvernoMutator(mutating, { world, definitions: plan.definitions }, places)]),
  ];
  const judges = [
    new KyvernoJudge(judging, world, places),
    new AuthorizationJudge(authorization, world, places),
    ...(await others(plan, files, tools, told)),
  ];
  const { operation, user, values } = plan;
  const circumstances = { kinds, operation, user, subresources: values.subresources };
  return {
    scanner: new Scanner(judges, circumstances, plan.wanted, mutators),
    rules: rulesOf(files) + plan.policyIds.length,
    exceptions: exceptions.length,
    listing,
    failures: [...failures].sort((a, b) => Number(isForJson(a.resource)) - Number(isForJson(b.resource))),
    authorization,
    ...told,
    ...{ unserved, places, empty, foreign },
  };
}

/** Receives lines for the user. */
interface Told {
  readonly warnings: string[];
  readonly mistakes: string[];
}

const rulesOf = (files: PolicyFiles): number =>
  [files.kyverno, files.authorization, files.admission, files.mutatingAdmission, files.certificateRequests.policies]
    .map(({ length }) => length)
    .reduce((all, each) => all + each);

/** The listing of the cluster's resources that the policies match. */
async function listingFor(
  { policyIds }: ScanPlan,
  { admission, mutatingAdmission, certificateRequests }: PolicyFiles,
  policies: readonly CompiledPolicy[],
  { cluster }: ScanTools,
): Promise<ClusterListing | undefined> {
  if (cluster === undefined) return undefined;
  const wanted = [
    ...policies.flatMap(({ variants }) =>
      variants.flatMap(({ mode, spec }) => (mode === "JSON" ? [EVERYTHING] : wantedBy(spec.matchConstraints))),
    ),
    ...[...admission, ...mutatingAdmission].flatMap(({ documents: [policy] }) =>
      wantedBy(member(member(policy?.value, "spec"), "matchConstraints")),
    ),
    ...(certificateRequests.policies.length > 0 ? [CERTIFICATE_REQUESTS] : []),
    ...(policyIds.length > 0 ? [EVERYTHING] : []),
  ];
  return await ClusterListing.open(cluster.client, wanted, cluster.namespace);
}

function kyvernoWorld(
  { values, definitions, contextFile, bindings = [] }: ScanPlan,
  { http, trust, images, cluster, now, date }: ScanTools,
): World {
  if (cluster !== undefined) return { ...cluster.world, external: cluster.external, date };
  const context = contextFile === undefined ? undefined : parseContextFile(contextFile, new ExternalKinds(definitions));
  if (context?.ok === false) throw new ScanError(context.error);
  return {
    resources: new FileResources(values.namespaces),
    authorizer: NO_OPINION,
    external: commandLineData({ ...context?.value, bindings }, http, trust, images),
    now,
    date,
  };
}

async function others(
  plan: ScanPlan,
  { admission, certificateRequests }: PolicyFiles,
  tools: ScanTools,
  told: Told,
): Promise<readonly OutcomeJudge[]> {
  const fromFiles = admission.length + certificateRequests.policies.length;
  if (fromFiles + plan.policyIds.length === 0) return [];
  const { values, parameterPaths, policyIds } = plan;
  const configured = policyIds.length > 0 ? await configuredPolicies(plan, tools.loader(), told) : [];
  return [
    await openAdmissionPolicies(admission, { namespaces: values.namespaces, parameterPaths }, tools, told),
    await openCertificateRequestPolicies(certificateRequests, plan, tools, told),
    new OutcomeJudge(configured, tools),
  ];
}

/** MutatingAdmissionPolicies; custom resources are merged by the plan's definitions. */
async function mutatingAdmissionPolicies(
  policies: readonly AdmissionPolicyDocuments[],
  { values, definitions, parameterPaths }: ScanPlan,
  tools: ScanTools,
  told: Told,
): Promise<readonly OutcomeJudge[]> {
  if (policies.length === 0) return [];
  return [
    await openAdmissionPolicies(
      policies,
      { namespaces: [...values.namespaces, ...definitions], parameterPaths },
      tools,
      told,
    ),
  ];
}

async function openCertificateRequestPolicies(
  documents: CertificateRequestPolicyDocuments,
  { values, parameterPaths, assumeBound = false }: ScanPlan,
  tools: ScanTools,
  told: Told,
): Promise<OutcomeJudge> {
  if (documents.policies.length === 0) return new OutcomeJudge([], tools);
  const beside = opened(await documentsBeside(values.namespaces, parameterPaths, told.warnings));
  const who = { assumeBound, cluster: tools.cluster !== undefined };
  const config = certificateRequestsConfig(documents, beside, who);
  const found = (await served(config, tools.loader(), told)).get(ENTRY_ID);
  if (found === undefined) throw new Error("the CertificateRequestPolicies were not loaded");
  const reported = reportedCertificateRequestPolicies(documents.policies);
  return new OutcomeJudge(
    [{ served: found, reported, isFor: isCertificateRequest, finding: certificateRequestFinding }],
    tools,
  );
}

/**
 * Prepares ValidatingAdmissionPolicies or MutatingAdmissionPolicies.
 * @param beside documents that they may look up: Namespaces or definitions, and files with parameters
 * @param told receives their problems
 * @throws ScanError for unreadable files
 */
export async function openAdmissionPolicies(
  admission: readonly AdmissionPolicyDocuments[],
  beside: { readonly namespaces: readonly JsonObject[]; readonly parameterPaths: readonly string[] },
  tools: Pick<ScanTools, "loader" | "policyTimeout" | "now" | "onDefect">,
  told: Told,
): Promise<OutcomeJudge> {
  if (admission.length === 0) return new OutcomeJudge([], tools);
  const documents = await documentsBeside(beside.namespaces, beside.parameterPaths, told.warnings);
  const bound = await served(configurationOf(admission, documents), tools.loader(), told);
  return new OutcomeJudge(
    admission.map((policy, index) => admissionPolicy(policy, bound.get(idOf(index, policy)))),
    tools,
  );
}

function admissionPolicy(policy: AdmissionPolicyDocuments, found: ServedPolicy | undefined): JudgingPolicy {
  if (found === undefined) throw new Error(`the policy ${policy.name} was not loaded`);
  return {
    served: found,
    reported: reportedAdmissionPolicy(policy),
    isFor: ({ kind }) => kind === "resource",
    finding: (outcome) => admissionPolicyFinding(policy, outcome),
  };
}

async function configuredPolicies(
  { policiesFile = "policies.yaml", policyIds }: ScanPlan,
  loader: PolicyLoader,
  told: Told,
): Promise<readonly JudgingPolicy[]> {
  const read = loadConfig(policiesFile);
  if (!read.ok) throw new ScanError(read.message);
  told.warnings.push(...read.problems.map(formatProblem));
  const policies = await served(onlyNeeded(read.config, policyIds), loader, told);
  return policyIds.map((id) => {
    const found = policies.get(id);
    if (found === undefined) {
      const known = read.config.entries.map((entry) => entry.id).join(", ");
      throw new ScanError(`unknown policy: ${id}: neither a file nor in ${policiesFile} (known are ${known})`);
    }
    if (found.unavailable !== undefined) told.mistakes.push(`the policy ${id} can't be used: ${found.unavailable}`);
    const source = found.policy.implementation;
    const entry = read.config.entries.find((each) => each.id === id);
    const origin = entry && "origin" in entry ? entry.origin : undefined;
    const place = origin?.document.keyPositionOf(origin.path) ?? { file: policiesFile, line: 1 };
    const reported = { name: id, namespace: "", source, annotations: {}, countsSkips: true, place };
    return { served: found, reported, isFor: () => true, finding: plainFinding };
  });
}

async function served(
  config: Config,
  loader: PolicyLoader,
  { warnings, mistakes }: Told,
): Promise<ReadonlyMap<string, ServedPolicy>> {
  if (config.entries.length === 0) return new Map();
  const loaded = await loader.load(config);
  for (const problem of loaded.problems) {
    (problem.severity === "error" ? mistakes : warnings).push(formatProblem(problem));
  }
  return loaded.policies.entries;
}
