/** `apply`: evaluates policies on resources from files or a cluster (spec kyverno.md 8.9). */

import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { buffer } from "node:stream/consumers";
import { setFlagsFromString } from "node:v8";
import { type CommandIo, say, UsageError } from "../../data/command-io.js";
import { EXIT, nothingJudged, worstOf } from "../../data/exit-codes.js";
import { yamlText } from "../../data/yaml.js";
import type { LoaderSettings } from "../../loader/settings.js";
import type { Place } from "../../offline/reports/finding.js";
import { headline } from "../../offline/reports/plain-text.js";
import { readRequests, unasked } from "../../offline/scan/authorization-requests.js";
import { NO_VALUES, readUser, readValues } from "../../offline/scan/circumstances.js";
import { readDefinitions } from "../../offline/scan/definitions.js";
import { exceptionsOrThrow, readExceptions } from "../../offline/scan/exceptions.js";
import { leftOutText, withoutForeign } from "../../offline/scan/foreign-files.js";
import { Inputs, textOf } from "../../offline/scan/input-files.js";
import { KnownKinds } from "../../offline/scan/known-kinds.js";
import { isForJson } from "../../offline/scan/kyverno-judge.js";
import { openScan } from "../../offline/scan/open-scan.js";
import { readPayload } from "../../offline/scan/payload.js";
import { ScanError } from "../../offline/scan/scan-error.js";
import type { ScanPlan } from "../../offline/scan/scan-plan.js";
import { type OpenTools, scanTools } from "../../offline/scan/scan-tools.js";
import { withCertificateRequests } from "../../offline/scan/signing-request.js";
import { survey } from "../../offline/scan/survey.js";
import { certificateRequestValues, givenFlags } from "../certificate-request-options.js";
import { isTerminal } from "../look/paint.js";
import { onlyChanged } from "./changed.js";
import { ChangedResources } from "./changed-resources.js";
import type { ApplyValues } from "./options.js";
import { type Output, outputFor } from "./output.js";
import { placeIn, Run, THREADS_FROM_BYTES } from "./run.js";

// Invalid combinations of arguments, in the words of Kyverno's command (spec kyverno.md 8.9).

/** The remedy, on a line of its own after Kyverno's message `require policy`. */
const NO_POLICY = "name files or folders with policies, as in: policy-server apply policy.yaml --resource pod.yaml";

/** The problem of the arguments; `undefined`: none. */
function argumentProblem(
  policies: readonly string[],
  values: ApplyValues & { readonly kubeconfig?: string | undefined },
): string | undefined {
  const { resource = [], json = [], httpPayload = [], envoyPayload = [], crdPaths = [], kubeconfig = "" } = values;
  const { valuesFile, set, cluster } = values;
  if (valuesFile !== undefined && set !== undefined) {
    return "pass the values either using set flag or values_file flag";
  }
  if (policies.length === 0)
    return `require policy
  ${NO_POLICY}`;
  if (policies.includes("-") && resource.includes("-")) {
    return "a stdin pipe can be used for either policies or resources, not both";
  }
  if (resource.length > 0 && json.length > 0) {
    return "both resource and json files can not be used together, use one or the other";
  }
  const given = [resource, json, httpPayload, envoyPayload].some((paths) => paths.length > 0);
  if (!given && !cluster) return "resource file(s) or cluster required";
  if (values.junit !== undefined && values.junit === values.sarif) {
    return "--junit and --sarif need two places: each is a document of its own";
  }
  if (values.clusterWideResources && values.namespace !== undefined) {
    const why = "--namespace leaves them out: ask about them without it, in a second run";
    return `--cluster-wide-resources of Kyverno's command is not served: ${why}`;
  }
  if (values.changed !== undefined) {
    if (cluster || resource.length === 0) return "--changed chooses among the files of --resource";
    if (values.exceptionsWithinResources)
      return "--changed would leave out exceptions among the resources: name their files with --exception";
  }
  if (crdPaths.some((path) => path.trim() !== "") && kubeconfig.trim() !== "") {
    return "crd-paths and kubeconfig flags are mutually exclusive, please use only one of them";
  }
  return undefined;
}

/** The exit code of Kyverno's command for all that is not as it should be. */
const KYVERNO_FAILED = 1;

/**
 * Flags of V8. Nearly all memory that a scan allocates is soon garbage, which V8 collects only at several times the live size: with these
 * flags the heap grows by a fifth between collections, and the young generation not at all. V8 reads both whenever the heap may grow, so that they
 * can be set while the process runs. The last one has V8 optimize later: most functions of a scan of some seconds are not worth it.
 */
const V8_FLAGS = ["--heap-growing-percent=20", "--semi-space-growth-factor=1", "--interrupt-budget=300000"];

/**
 * Applies policies.
 * @param paths files and folders with policies, `-`, or ids of policies in policies.yaml
 * @returns the exit code of the table in docs/command-line.md, or that of Kyverno's command
 */
export async function applyCommand(
  paths: readonly string[],
  values: ApplyValues,
  settings: LoaderSettings,
  io: CommandIo,
): Promise<number> {
  for (const flag of V8_FLAGS) setFlagsFromString(flag);
  const problem = argumentProblem(paths, { ...values, kubeconfig: settings.kubeconfig });
  if (problem !== undefined) return refused(problem, values, io);
  const color = values.removeColor !== true && isTerminal(io.stdout) && !io.env.NO_COLOR;
  const time = Math.floor(Date.now() / 1000);
  const output = outputFor(values, {
    auditWarn: values.auditWarn === true,
    time,
    color,
    warn: (line) => say(io.stderr, `warning: ${line}`),
  });
  const inputs = new Inputs();
  let tools: OpenTools | undefined;
  try {
    // Policies of other kinds look things up in the cluster, too.
    const all = values.cluster ? { ...settings, kubernetes: true } : settings;
    tools = scanTools(all, io, values.cluster && (values.namespace ?? ""));
    return await apply({ paths, values, settings: all, io, output, inputs, tools });
  } catch (error) {
    if (error instanceof ScanError || error instanceof UsageError) return refused(error.message, values, io);
    throw error;
  } finally {
    await tools?.close();
    await inputs.close();
  }
}

interface Application {
  readonly paths: readonly string[];
  readonly values: ApplyValues;
  readonly settings: LoaderSettings;
  readonly io: CommandIo;
  readonly output: Output;
  readonly inputs: Inputs;
  readonly tools: OpenTools;
}

async function apply(application: Application): Promise<number> {
  const { paths, values, settings, io, output, tools } = application;
  const { httpPayload = [], envoyPayload = [], json = [], resource: resourcePaths = [] } = values;
  const { plan, files, looked, leftOut, isPart } = await planOf(application);
  const payloads = json.map((path) => readPayload(path));
  const requests = readRequests({ HTTP: httpPayload, Envoy: envoyPayload });
  const opened = await openScan(plan, tools);
  const areSame = paths.every((path) => resourcePaths.includes(path));
  const foreign = leftOutText(leftOut + (areSame ? 0 : opened.foreign));
  if (foreign !== undefined) say(io.stderr, `warning: ${foreign}`);
  for (const warning of [...looked.warnings, ...opened.warnings]) say(io.stderr, `warning: ${warning}`);
  for (const mistake of opened.mistakes) say(io.stderr, `Error: ${mistake}`);
  for (const missing of opened.unserved) say(io.stderr, `Error: ${missing}: nothing is checked with it`);
  for (const line of unasked(opened.authorization, requests)) say(io.stderr, `warning: ${line}`);
  const listed = output.headline ? ((await opened.listing?.count()) ?? 0) : 0;
  const total = looked.resources + payloads.length + listed;
  const progress = !values.removeColor;
  const changed = values.output === undefined ? undefined : await ChangedResources.open(values.output);
  const run = new Run({
    opened,
    output,
    changed,
    io,
    plan,
    total,
    settings,
    progress,
    threadsFrom: THREADS_FROM_BYTES,
  });
  if (output.headline) await run.print(headline(opened.rules, total, opened.exceptions));
  const hasObjects = looked.resources > 0 || isPart || opened.listing !== undefined;
  const failures = [
    ...opened.failures.map(({ resource, text }) => ({
      name: resource.metadata.name ?? "",
      text,
      resource,
      end: `failed to apply policies on resource ${looked.first} (${text})`,
      isAsked: isForJson(resource) ? total > 0 : hasObjects,
    })),
    ...opened.authorization.failures.map(({ mode, text, resource }) => ({
      name: `a policy of the mode ${mode}`,
      text,
      resource,
      end: text,
      isAsked: requests.some((each) => each.mode === mode),
    })),
  ];
  for (const { name, text, resource } of failures) output.unasked?.(name, text, opened.places.get(resource));
  for (const missing of opened.unserved) output.unasked?.(missing, missing, opened.places.get(missing));
  for (const text of opened.mistakes) output.unasked?.(UNUSABLE, text, placeIn(text, paths));
  const asked = failures.filter(({ isAsked }) => isAsked);
  if (asked[0] !== undefined && !values.continueOnFail) {
    await run.print((await output.broken?.(opened.scanner.policies)) ?? "");
    return refused(asked[0].end, values, io);
  }
  for (const { text } of failures) say(io.stderr, `Error: ${text}`);
  const placesOf = (paths: readonly string[]) => paths.map((file): Place => ({ file, line: 1 }));
  const payloadPlaces = placesOf(json);
  for (const [index, payload] of payloads.entries())
    await run.take([await opened.scanner.scanPayload(payload, payloadPlaces[index])]);
  await run.resources(files, looked);
  if (opened.listing !== undefined) await run.listed(opened.listing);
  const requestPlaces = placesOf([...httpPayload, ...envoyPayload]);
  for (const [index, request] of requests.entries())
    await run.take([await opened.scanner.scanRequest(request, requestPlaces[index])]);
  const mistakes = await run.mistakes(files);
  for (const { text, place } of mistakes) output.unasked?.(UNUSABLE, text, place);
  await run.end();
  for (const { text } of mistakes) say(io.stderr, `Error: ${text}`);
  const isUnused = failures.length + opened.unserved.length + opened.mistakes.length + mistakes.length > 0;
  const empty = [...opened.empty, ...looked.empty];
  const why = whyNothing(application, empty, { run, rules: opened.rules, total: total + requests.length, isPart });
  return exitCode(run, application, { isUnevaluated: asked.length + opened.unserved.length > 0, isUnused, why });
}

/** The name in reports, in place of a policy, of inputs that can't be used. */
const UNUSABLE = "unusable input";

/** Numbers that count for the reason why nothing was judged. */
interface Asked {
  readonly run: Run;
  /** Number of policies. */
  readonly rules: number;
  /** Number of resources, payloads and requests. */
  readonly total: number;
  readonly isPart: boolean;
}

/** The reason why nothing, or nothing of a path that was named, was judged; `undefined`: something was. */
function whyNothing(
  { paths, values: { resource = [], cluster, namespace } }: Application,
  empty: readonly string[],
  { run, rules, total, isPart }: Asked,
): string | undefined {
  const named = (path: string): string => (path === "-" ? "standard input" : path);
  if (run.counts.judged > 0)
    return empty.length > 0 ? `${empty.map(named).join(", ")} holds nothing to judge` : undefined;
  if (rules === 0) return `there is no policy in ${paths.map(named).join(", ")}`;
  // Files that have changed may well be none that a policy is for.
  if (isPart && empty.length === 0) return undefined;
  if (total === 0) {
    const where = cluster ? `the cluster${namespace ? `'s namespace ${namespace}` : ""}` : "";
    return `there is no resource in ${[...resource.map(named), where].filter(Boolean).join(", ")}`;
  }
  return "no policy matched a resource";
}

/** Reasons for the exit code beside findings. */
interface Ended {
  /** Whether a policy could not be evaluated on what was asked. */
  readonly isUnevaluated: boolean;
  /** Whether that, or any input, could not be used. */
  readonly isUnused: boolean;
  /** The reason why nothing was judged. */
  readonly why: string | undefined;
}

async function exitCode(run: Run, { values, io }: Application, { isUnevaluated, isUnused, why }: Ended) {
  const { pass, fail, error } = run.counts;
  const failed = fail > 0 || error > 0;
  const own = worstOf([
    isUnused ? EXIT.NOT_ASKED : EXIT.FINE,
    failed ? EXIT.NO : EXIT.FINE,
    why === undefined ? EXIT.FINE : EXIT.NOTHING_JUDGED,
  ]);
  if (own === EXIT.NOTHING_JUDGED && why !== undefined) nothingJudged(why, io);
  const code = values.compat === "kyverno" ? (failed || isUnevaluated ? KYVERNO_FAILED : EXIT.FINE) : own;
  const isUnsatisfied = pass === 0 && !failed && !isUnevaluated && values.warnNoPass === true;
  if (isUnsatisfied) await run.print("exit as no objects satisfied policy\n");
  return isUnsatisfied && code === EXIT.FINE ? (values.warnExitCode ?? EXIT.FINE) : code;
}

/** The plan of the run, with all inputs read; resources are only surveyed. */
async function planOf(application: Application) {
  const { paths, values, settings, io, output, inputs } = application;
  const { valuesFile, userinfo, contextFile, exception = [], crdPaths = [], parameterResource = [] } = values;
  const requester = userinfo === undefined ? undefined : readUser(userinfo);
  const read = valuesFile === undefined ? NO_VALUES : readValues(valuesFile);
  const warn = (line: string): void => void say(io.stderr, `warning: ${line}`);
  const definitions = await readDefinitions(crdPaths, warn);
  const { policyPaths, policyIds } = namedPolicies(paths, settings);
  const stdin = policyPaths.includes("-") ? yamlText(await buffer(io.stdin)) : "";
  if (values.resource?.includes("-")) await inputs.takeStdin(io.stdin);
  const beside = [
    ...policyPaths.filter((path) => path !== "-"),
    ...[...exception, ...crdPaths, ...parameterResource],
    ...[valuesFile, userinfo, contextFile].filter((path) => path !== undefined),
    // Modules and documents of its policies stand beside policies.yaml as a rule.
    ...(policyIds.length > 0 && settings.file !== undefined ? [dirname(settings.file)] : []),
  ];
  const lookedAt = await lookedOver(application, new KnownKinds(definitions), beside);
  const plan: ScanPlan = {
    policyPaths,
    policyIds,
    stdin,
    ...(settings.file !== undefined && { policiesFile: settings.file }),
    exceptions: values.exceptionsWithinResources
      ? exceptionsOrThrow(lookedAt.looked)
      : await readExceptions(exception, warn),
    exceptionsWithinPolicies: values.exceptionsWithinPolicies === true,
    values: read,
    operation: read.operation ?? "CREATE",
    ...requester,
    definitions,
    ...(contextFile !== undefined && { contextFile: textOf(contextFile) }),
    parameterPaths: parameterResource,
    assumeBound: values.assumeBound === true,
    wanted: output.wanted,
  };
  return { plan, ...lookedAt };
}

/** Files of policies, and ids of those in policies.yaml: a word that is not a file is an id if there is a policies.yaml. */
function namedPolicies(
  paths: readonly string[],
  { file }: LoaderSettings,
): Pick<ScanPlan, "policyPaths" | "policyIds"> {
  if (file === undefined) return { policyPaths: paths, policyIds: [] };
  const isFile = (path: string): boolean => path === "-" || existsSync(path);
  return { policyPaths: paths.filter(isFile), policyIds: paths.filter((path) => !isFile(path)) };
}

/**
 * Finds the resources, which are not yet judged.
 * @param beside files and folders by which they are judged
 */
async function lookedOver({ values, inputs, io }: Application, kinds: KnownKinds, beside: readonly string[]) {
  try {
    const { resource: paths = [], namespace, changed: base } = values;
    const said = certificateRequestValues(values);
    const given = await inputs.files(paths);
    const chosen = base === undefined ? undefined : await onlyChanged(given, { base, inputs: beside, env: io.env });
    if (chosen !== undefined) say(io.stderr, `note: ${chosen.note}`);
    const { files: objects, leftOut } = await withoutForeign(chosen?.files ?? given);
    const { files, made } = await withCertificateRequests(objects, { ...said, namespace });
    const flags = givenFlags(said);
    if (made === 0 && flags !== "") throw new ScanError(`no CSR is among the resources, for which alone ${flags} is`);
    const isPart = chosen !== undefined && chosen.files.length < given.length;
    // A path is not empty where one of its files is unchanged.
    const isUnchanged = (path: string): boolean =>
      chosen !== undefined && given.some((file) => file.given === path && !chosen.files.includes(file));
    const mayBeEmpty = paths.filter((path) => !isUnchanged(path));
    return { files, looked: await survey(files, kinds, mayBeEmpty), leftOut, isPart };
  } catch (error) {
    if (error instanceof ScanError)
      throw new ScanError(`failed to load resources (${error.message})`, { cause: error });
    throw error;
  }
}

const refused = (message: string, { compat }: ApplyValues, { stderr }: CommandIo): number => {
  say(stderr, `Error: ${message}`);
  return compat === "kyverno" ? KYVERNO_FAILED : EXIT.NOT_ASKED;
};
