/** Evaluates the policies of a test on its resources (spec kyverno.md 8.2 to 8.7). */

import { isAbsolute, join } from "node:path";
import { counted } from "../../data/counted.js";
import { quote } from "../../data/go/quote.js";
import { sameValue } from "../../data/same-value.js";
import {
  AUTHORIZATION_MODES,
  type AuthorizationMode,
  type AuthorizationRequest,
  Authorizer,
  prepareAuthorization,
} from "../../kinds/kyverno/authorization/index.js";
import { expiredText, type PolicyResource, preparePolicies } from "../../kinds/kyverno/index.js";
import { mistakenKind } from "../../kubernetes/builtin-kinds.js";
import type { World } from "../../world/world.js";
import { readAuthorizationFile } from "../scan/authorization-file.js";
import {
  NO_VALUES,
  type Operation,
  type Requester,
  readUser,
  readValues,
  type Values,
  valuesOf,
} from "../scan/circumstances.js";
import { identityOf } from "../scan/duplicates.js";
import { convertedExceptions, readExceptions } from "../scan/exceptions.js";
import { leftOutText, withoutForeign } from "../scan/foreign-files.js";
import { Inputs } from "../scan/input-files.js";
import { jsonDoubts } from "../scan/json-doubts.js";
import { KnownKinds } from "../scan/known-kinds.js";
import { reportedPolicy } from "../scan/kyverno-judge.js";
import { readPayload } from "../scan/payload.js";
import { type Resource, readResources } from "../scan/resource.js";
import { OutdatedFileError, ScanError } from "../scan/scan-error.js";
import { split } from "../scan/split/split.js";
import { openAdmissionQuestions } from "./admission-questions.js";
import { reportedResult } from "./answer-result.js";
import type { Answers, Evaluated } from "./answers.js";
import { type PatchedFile, readPatched } from "./patched-resources.js";
import { loadPolicies, type TestPolicies } from "./policy-files.js";
import { PolicyQuestions } from "./policy-questions.js";
import type { Evaluate, Test, TestWords } from "./run.js";
import { TestRunError } from "./run-error.js";
import type { TestDocument } from "./test-file.js";
import { loadCluster, loadMocks, type TestData, type TestSurroundings, worldOfTest } from "./test-world.js";

// Evaluates policies for an authorization server on the requests of a test (spec kyverno.md 6.3).

/** A request, and its path for display. */
interface NamedRequest {
  readonly name: string;
  readonly request: AuthorizationRequest;
}

/**
 * Reads a test's requests.
 * @param at resolves a path of the test
 * @throws TestRunError for an invalid file
 */
function loadRequests(
  { httpPayloads, envoyPayloads }: TestDocument,
  at: (path: string) => string,
  { say }: TestWords,
): readonly NamedRequest[] {
  const paths: Readonly<Record<AuthorizationMode, readonly string[]>> = { HTTP: httpPayloads, Envoy: envoyPayloads };
  return AUTHORIZATION_MODES.flatMap((mode) => {
    const own = new Set(paths[mode].map(at));
    if (own.size > 0) say(`  Loading ${mode} payloads ...`);
    return [...own].map((name) => ({ name, request: loaded(mode, name) }));
  });
}

function loaded(mode: AuthorizationMode, path: string): AuthorizationRequest {
  try {
    return readAuthorizationFile(mode, path);
  } catch (error) {
    if (!(error instanceof ScanError)) throw error;
    const reason = `error: failed to load ${mode} payloads from path ${path} (${error.message})`;
    throw new TestRunError(reason, { cause: error });
  }
}

/**
 * The policies' answers about requests. A policy that does not compile fails with the first request of its mode, and is a mistake without one.
 * @throws TestRunError for such a policy
 */
async function askedAbout(
  requests: readonly NamedRequest[],
  resources: readonly PolicyResource[],
  world: World,
  { mistake }: TestWords,
): Promise<readonly Evaluated[]> {
  const { policies, failures } = prepareAuthorization(resources);
  for (const { mode, text } of failures) if (!requests.some(({ request }) => request.mode === mode)) mistake(text);
  const authorizer = new Authorizer(policies, world);
  const evaluated: Evaluated[] = [];
  for (const { name, request } of requests) {
    const failure = failures.find(({ mode }) => mode === request.mode);
    if (failure !== undefined) {
      throw new TestRunError(`failed to apply policies on ${request.mode} payload (${failure.text})`);
    }
    const answers = (await authorizer.about(request)).map(({ policy, rule, status, message }) => {
      const finding = { policy: 0, rule, status, message, properties: {}, exceptions: [] };
      return { policy: policy.metadata.name ?? "", result: reportedResult(reportedPolicy(policy), finding) };
    });
    evaluated.push({ subject: { name }, answers });
  }
  return evaluated;
}

// The resources of a test, from its files (spec kyverno.md 8.2).

/**
 * Reads the resources of files and folders, without duplicates.
 * @throws TestRunError for unreadable files
 */
async function loadResources(
  paths: readonly string[],
  kinds: KnownKinds,
  { say, warn, mistake }: TestWords,
): Promise<readonly Resource[]> {
  const found = new Map<string, Resource>();
  const inputs = new Inputs();
  const wrong = new Set<string>();
  try {
    const { files, leftOut } = await withoutForeign(await inputs.files(paths));
    const foreign = leftOutText(leftOut);
    if (foreign !== undefined) warn(foreign);
    for (const file of files) {
      let repeats = false;
      const repeated = (): void => {
        repeats = true;
      };
      for await (const batch of split(file.name, file.read())) {
        for (const resource of readResources(batch, kinds, { warn, repeated })) {
          const key = identityOf(resource);
          const first = found.get(key);
          const { apiVersion, kind, name, namespace, object } = resource;
          if (first === undefined) found.set(key, resource);
          else say(`  warning: found duplicated resource ${kind} ${name} ${namespace}`);
          if (first !== undefined && !sameValue(first.object, object))
            wrong.add(`${kind} ${name} stands twice with other contents: only the first is judged`);
          const reason = mistakenKind(apiVersion, kind);
          if (reason !== undefined) wrong.add(reason);
        }
      }
      if (repeats) for (const doubt of await jsonDoubts(file)) warn(doubt);
    }
  } catch (error) {
    if (!(error instanceof ScanError)) throw error;
    throw new TestRunError(`error: failed to load resources (${error.message})`, { cause: error });
  } finally {
    await inputs.close();
  }
  for (const reason of wrong) mistake(reason);
  return [...found.values()];
}

/** Evaluates tests: every resource and payload once, and resources once more for each operation that an expected result names. */
export const testEvaluator =
  (surroundings: TestSurroundings): Evaluate =>
  async (test, words) => {
    try {
      return await evaluate(test, words, surroundings);
    } catch (error) {
      if (error instanceof ScanError) throw new TestRunError(error.message, { cause: error });
      throw error;
    }
  };

async function evaluate(
  { folder, document }: Test,
  words: TestWords,
  surroundings: TestSurroundings,
): Promise<Answers> {
  const { say, warn, mistake } = words;
  const at = (path: string): string => (isAbsolute(path) ? path : join(folder, path));
  const all = (paths: readonly string[]) => paths.map(at);

  say("  Loading values/variables ...");
  const values = loadValues(document, at);
  const { user, bindings } = loadUser(document, at, words);
  say("  Loading policies ...");
  const loaded = await loadPolicies(all(document.policies), values.old, words);
  say("  Loading resources ...");
  const resources = await loadResources(all(document.resources), new KnownKinds(), words);
  const payloads = loadPayloads(document, at, words);
  const requests = loadRequests(document, at, words);
  if (document.clusterResources.length > 0) say("Loading Kubernetes resources ...");
  const cluster = await loadCluster({ document, at }, warn);
  say("  Loading exceptions ...");
  const given = await readExceptions(all(document.exceptions), warn, unloadableExceptions);
  const exceptions = convertedExceptions(given, loaded.old, warn);
  const mocks = await loadMocks(document, at, warn);
  say(`  Applying ${appliedText(loaded, resources.length, given.length)} ...`);
  const operations = explicitOperations(document);

  const { policies, failures } = preparePolicies(loaded.policies, exceptions);
  const [failure] = failures;
  const about = firstSubject(resources, document);
  if (failure !== undefined && about !== undefined) throw new TestRunError(`${about} (${failure.text})`);
  for (const { text } of failures) mistake(text);
  const data: TestData = { document, at, values, resources, mocks, about, bindings };
  const world = await worldOfTest(data, cluster, surroundings);
  const admission = await openAdmissionQuestions(loaded.admissionFiles, data, surroundings, words);
  for (const line of exceptions.flatMap((each) => expiredText(each, surroundings.date()) ?? [])) warn(line);
  const questions = new PolicyQuestions(policies, {
    world,
    admission,
    user,
    kinds: new KnownKinds(cluster?.definitions),
    subresources: cluster === undefined ? values.subresources : [],
    operations: values.old.operations,
    definitions: cluster?.definitions ?? [],
  });
  const patched = new Map<string, PatchedFile>();
  for (const { patchedResources = "" } of document.results)
    if (patchedResources !== "" && !patched.has(patchedResources))
      patched.set(patchedResources, await readPatched(at(patchedResources), new KnownKinds(cluster?.definitions)));
  const usual: Evaluated[] = [];
  const byOperation = new Map<string, Evaluated[]>(operations.map((operation) => [operation, []]));
  for (const resource of resources) {
    usual.push(await questions.about(resource, values.operation ?? "CREATE"));
    for (const operation of operations) {
      byOperation.get(operation)?.push(await questions.about(resource, operation, true));
    }
  }
  for (const { name, payload } of payloads) usual.push(await questions.aboutPayload(name, payload));
  usual.push(...(await askedAbout(requests, loaded.authorization, world, words)));
  return { usual, byOperation, notServed: loaded.notServed, patched };
}

/** Values of the test; those written in it take precedence over a file. */
function loadValues({ values, variables = "" }: TestDocument, at: (path: string) => string): Values {
  if (values !== undefined) return valuesOf(values);
  return variables === "" ? NO_VALUES : readValues(at(variables), variables);
}

function loadUser({ userinfo = "" }: TestDocument, at: (path: string) => string, { say }: TestWords): Requester {
  if (userinfo === "") return { user: {}, bindings: [] };
  say("  Loading user infos ...");
  try {
    return readUser(at(userinfo), userinfo);
  } catch (error) {
    if (!(error instanceof ScanError) || error instanceof OutdatedFileError) throw error;
    throw new TestRunError(`error: ${error.message}`, { cause: error });
  }
}

function loadPayloads({ jsonPayloads }: TestDocument, at: (path: string) => string, { say }: TestWords) {
  if (jsonPayloads.length > 0) say("  Loading JSON payloads ...");
  return jsonPayloads.map((name) => ({ name, payload: readPayload(at(name), name) }));
}

const unloadableExceptions = (reason: string) => new TestRunError(`error: failed to load exceptions (${reason})`);

function appliedText({ count }: TestPolicies, resources: number, exceptions: number): string {
  const what = counted(count, "policy", "policies");
  const to = counted(resources, "resource", "resources");
  return `${what} to ${to} with ${counted(exceptions, "exception", "exceptions")}`;
}

const OPERATIONS: readonly string[] = ["CREATE", "UPDATE", "DELETE"];

/** The operations that expected results name, each once. */
function explicitOperations({ results }: TestDocument): readonly Operation[] {
  const found = new Set<Operation>();
  for (const { policy = "", operation = "" } of results) {
    if (operation === "") continue;
    if (!isOperation(operation)) {
      const wrong = `invalid operation ${quote(operation, false)}, must be one of ${OPERATIONS.join(", ")}`;
      throw new TestRunError(`invalid test result for policy ${policy}: ${wrong}`);
    }
    found.add(operation);
  }
  return [...found].sort();
}

const isOperation = (text: string): text is Operation => OPERATIONS.includes(text);

/** The first subject, with which errors of policies or their context are reported. */
function firstSubject([resource]: readonly Resource[], { jsonPayloads: [payload] }: TestDocument): string | undefined {
  if (resource !== undefined) return `failed to apply policies on resource ${resource.name}`;
  return payload === undefined ? undefined : `failed to apply validating policies on JSON payload ${payload}`;
}
