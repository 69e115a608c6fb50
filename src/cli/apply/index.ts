/** `apply`: evaluates policies on resources from files or a cluster (spec kyverno.md 8.9). */

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { buffer } from "node:stream/consumers";
import { setFlagsFromString } from "node:v8";
import { type CommandIo, say } from "../../data/command-io.js";
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
import { type InputFile, Inputs, reasonOf } from "../../offline/scan/input-files.js";
import { KnownKinds } from "../../offline/scan/known-kinds.js";
import { type OpenedScan, openScan } from "../../offline/scan/open-scan.js";
import { readPayload } from "../../offline/scan/payload.js";
import { ScanError } from "../../offline/scan/scan-error.js";
import type { ScanPlan } from "../../offline/scan/scan-plan.js";
import { type OpenTools, scanTools } from "../../offline/scan/scan-tools.js";
import { withCertificateRequests } from "../../offline/scan/signing-request.js";
import { type Survey, survey } from "../../offline/scan/survey.js";
import { certificateRequestValues, givenFlags } from "../certificate-request-options.js";
import { isTerminal } from "../look/paint.js";
import { onlyChanged } from "./changed.js";
import type { ApplyValues } from "./options.js";
import { type Output, outputFor } from "./output.js";
import { placeIn, Run, THREADS_FROM_BYTES } from "./run.js";

// Invalid combinations of arguments, in the words of Kyverno's command (spec kyverno.md 8.9).

/** The remedy, on a line of its own after Kyverno's message `require policy`. */
const NO_POLICY = "name files or folders with policies, as in: policy-server apply policy.yaml --resource pod.yaml";

/** The problem of the arguments; `undefined`: none. */
function argumentProblem(
  policies: readonly string[],
  resources: readonly string[],
  values: ApplyValues & { readonly kubeconfig?: string | undefined },
): string | undefined {
  const {
    valuesFile,
    set,
    json = [],
    httpPayload = [],
    envoyPayload = [],
    cluster,
    crdPaths = [],
    kubeconfig = "",
  } = values;
  if (valuesFile !== undefined && set !== undefined) {
    return "pass the values either using set flag or values_file flag";
  }
  if (policies.length === 0)
    return `require policy
  ${NO_POLICY}`;
  if (policies.includes("-") && resources.includes("-")) {
    return "a stdin pipe can be used for either policies or resources, not both";
  }
  if (resources.length > 0 && json.length > 0) {
    return "both resource and json files can not be used together, use one or the other";
  }
  const given = [resources, json, httpPayload, envoyPayload].some((paths) => paths.length > 0);
  if (!given && !cluster) return "resource file(s) or cluster required";
  if (values.clusterWideResources && values.namespace !== undefined) {
    const why = "--namespace leaves them out: ask about them without it, in a second run";
    return `--cluster-wide-resources of Kyverno's command is not served: ${why}`;
  }
  if (values.changed !== undefined) {
    if (cluster || resources.length === 0) return "--changed chooses among the files of --resource";
    const within = values.exceptionsWithinResources ?? values.exceptionsWithResources;
    if (within) return "--changed would leave out exceptions among the resources: name their files with --exception";
  }
  if (crdPaths.some((path) => path.trim() !== "") && kubeconfig.trim() !== "") {
    return "crd-paths and kubeconfig flags are mutually exclusive, please use only one of them";
  }
  return undefined;
}

/** The exit code of Kyverno's command for all that is not as it should be. */
const KYVERNO_FAILED = 1;

/**
 * Flags of V8's heap. Nearly all memory that a scan allocates is soon garbage, which V8 collects only at several times the live size: with these
 * flags the heap grows by a fifth between collections, and the young generation not at all. V8 reads both whenever the heap may grow, so that they
 * can be set while the process runs.
 */
const HEAP_FLAGS = ["--heap-growing-percent=20", "--semi-space-growth-factor=1"];

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
  for (const flag of HEAP_FLAGS) setFlagsFromString(flag);
  const resourcePaths = [...(values.resource ?? []), ...(values.resources ?? [])];
  const crdPaths = crdPathsOf(values);
  const problem = argumentProblem(paths, resourcePaths, { ...values, crdPaths, kubeconfig: settings.kubeconfig });
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
    return await apply({ paths, resourcePaths, values, settings: all, io, output, inputs, tools });
  } catch (error) {
    if (error instanceof ScanError) return refused(error.message, values, io);
    throw error;
  } finally {
    await tools?.close();
    await inputs.close();
  }
}

interface Application {
  readonly paths: readonly string[];
  readonly resourcePaths: readonly string[];
  readonly values: ApplyValues;
  readonly settings: LoaderSettings;
  readonly io: CommandIo;
  readonly output: Output;
  readonly inputs: Inputs;
  readonly tools: OpenTools;
}

async function apply(application: Application): Promise<number> {
  const { values, io, output, tools } = application;
  const { plan, files, looked, leftOut, isPart } = await planOf(application);
  const payloads = (values.json ?? []).map((path) => readPayload(path));
  const requests = readRequests({ HTTP: values.httpPayload ?? [], Envoy: values.envoyPayload ?? [] });
  const opened = await openScan(plan, tools);
  const areSame = application.paths.every((path) => application.resourcePaths.includes(path));
  const foreign = leftOutText(leftOut + (areSame ? 0 : opened.foreign));
  if (foreign !== undefined) say(io.stderr, `warning: ${foreign}`);
  for (const warning of [...looked.warnings, ...opened.warnings]) say(io.stderr, `warning: ${warning}`);
  for (const mistake of opened.mistakes) say(io.stderr, `Error: ${mistake}`);
  for (const missing of opened.unserved) say(io.stderr, `Error: nothing is checked with ${missing}`);
  for (const line of unasked(opened.authorization, requests)) say(io.stderr, `warning: ${line}`);
  const listed = output.headline ? ((await opened.listing?.count()) ?? 0) : 0;
  const total = looked.resources + payloads.length + listed;
  const run = new Run({
    opened,
    output,
    io,
    plan,
    total,
    settings: application.settings,
    progress: !values.removeColor,
    threadsFrom: THREADS_FROM_BYTES,
  });
  if (output.headline) await run.print(headline(opened.rules, total, opened.exceptions));
  const failures = opened.failures.filter(({ resource: { spec } }) =>
    spec.evaluation?.mode === "JSON" ? total > 0 : looked.resources > 0 || isPart || opened.listing !== undefined,
  );
  for (const { resource, text } of failures)
    output.unasked?.(resource.metadata.name ?? "", text, opened.places.get(resource));
  for (const missing of opened.unserved) output.unasked?.(missing, missing, opened.places.get(missing));
  for (const text of opened.mistakes) output.unasked?.(UNUSABLE, text, placeIn(text, application.paths));
  const [failure] = failures;
  if (failure !== undefined && !values.continueOnFail) {
    await run.print((await output.broken?.(opened.scanner.policies)) ?? "");
    return refused(`failed to apply policies on resource ${looked.first} (${failure.text})`, values, io);
  }
  const unasking = opened.authorization.failures.filter(({ mode }) => requests.some((each) => each.mode === mode));
  for (const { mode, text, resource } of unasking)
    output.unasked?.(`a policy of the mode ${mode}`, text, opened.places.get(resource));
  if (unasking[0] !== undefined && !values.continueOnFail) {
    await run.print((await output.broken?.(opened.scanner.policies)) ?? "");
    return refused(unasking[0].text, values, io);
  }
  for (const each of [...failures, ...unasking]) say(io.stderr, `Error: ${each.text}`);
  for (const [index, payload] of payloads.entries())
    await run.take([await opened.scanner.scanPayload(payload, beginOf(values.json?.[index]))]);
  await run.resources(files, looked);
  if (opened.listing !== undefined) await run.listed(opened.listing);
  const requestFiles = [...(values.httpPayload ?? []), ...(values.envoyPayload ?? [])];
  for (const [index, request] of requests.entries())
    await run.take([await opened.scanner.scanRequest(request, beginOf(requestFiles[index]))]);
  const mistakes = await run.mistakes(files);
  for (const { text, place } of mistakes) output.unasked?.(UNUSABLE, text, place);
  await run.end();
  for (const { text } of mistakes) say(io.stderr, `Error: ${text}`);
  const unevaluated = failures.length + unasking.length + opened.unserved.length;
  return exitCode(run, application, {
    unevaluated,
    mistakes: unevaluated + opened.mistakes.length + mistakes.length,
    why: whyNothing(application, [...opened.empty, ...looked.empty], {
      opened,
      total: total + requests.length,
      run,
      isPart,
    }),
  });
}

/** The name in reports, in place of a policy, of inputs that can't be used. */
const UNUSABLE = "unusable input";

const beginOf = (file: string | undefined): Place | undefined => (file === undefined ? undefined : { file, line: 1 });

/** The reason why nothing, or nothing of a path that was named, was judged; `undefined`: something was. */
function whyNothing(
  { paths, resourcePaths, values }: Application,
  empty: readonly string[],
  {
    opened,
    total,
    run,
    isPart,
  }: {
    readonly opened: OpenedScan;
    readonly total: number;
    readonly run: Run;
    readonly isPart: boolean;
  },
): string | undefined {
  const named = (path: string): string => (path === "-" ? "standard input" : path);
  if (run.counts.judged > 0)
    return empty.length > 0 ? `${empty.map(named).join(", ")} holds nothing to judge` : undefined;
  if (opened.rules === 0) return `there is no policy in ${paths.map(named).join(", ")}`;
  // Files that have changed may well be none that a policy is for.
  if (isPart && empty.length === 0) return undefined;
  if (total === 0) {
    const where = values.cluster ? `the cluster${values.namespace ? `'s namespace ${values.namespace}` : ""}` : "";
    return `there is no resource in ${[...resourcePaths.map(named), where].filter(Boolean).join(", ")}`;
  }
  return "no policy matched a resource";
}

/** Numbers and reasons that count for the exit code beside findings. */
interface Ended {
  /** Number of policies that could not be evaluated. */
  readonly unevaluated: number;
  /** The same, with all other unusable inputs. */
  readonly mistakes: number;
  /** The reason why nothing was judged. */
  readonly why: string | undefined;
}

async function exitCode(run: Run, { values, io }: Application, { unevaluated, mistakes, why }: Ended): Promise<number> {
  const { pass, fail, error } = run.counts;
  const failed = fail > 0 || error > 0;
  const isKyverno = values.compat === "kyverno";
  const own = worstOf([
    mistakes > 0 ? EXIT.NOT_ASKED : EXIT.FINE,
    failed ? EXIT.NO : EXIT.FINE,
    why === undefined ? EXIT.FINE : EXIT.NOTHING_JUDGED,
  ]);
  if (own === EXIT.NOTHING_JUDGED && why !== undefined) nothingJudged(why, io);
  const code = isKyverno ? (failed || unevaluated > 0 ? KYVERNO_FAILED : EXIT.FINE) : own;
  const isUnsatisfied = pass === 0 && !failed && unevaluated === 0 && values.warnNoPass === true;
  if (isUnsatisfied) await run.print("exit as no objects satisfied policy\n");
  return isUnsatisfied && code === EXIT.FINE ? (values.warnExitCode ?? EXIT.FINE) : code;
}

/** The plan of the run, with all inputs read; resources are only surveyed. */
async function planOf({ paths, resourcePaths, values, settings, io, output, inputs }: Application): Promise<
  {
    readonly plan: ScanPlan;
  } & LookedOver
> {
  const user = values.userinfo === undefined ? undefined : readUser(values.userinfo);
  const read = values.valuesFile === undefined ? NO_VALUES : readValues(values.valuesFile);
  const warn = (line: string): void => void say(io.stderr, `warning: ${line}`);
  const definitions = await readDefinitions(crdPathsOf(values), warn);
  const { policyPaths, policyIds } = namedPolicies(paths, settings);
  const policyText = policyPaths.includes("-") ? yamlText(await buffer(io.stdin)) : "";
  if (resourcePaths.includes("-")) await inputs.takeStdin(io.stdin);
  const within = values.exceptionsWithinResources ?? values.exceptionsWithResources;
  const named = [...(values.exception ?? []), ...(values.exceptions ?? [])];
  const beside = [
    ...[...policyPaths.filter((path) => path !== "-"), ...named, ...crdPathsOf(values)],
    ...[
      values.valuesFile ?? [],
      values.userinfo ?? [],
      values.contextFile ?? [],
      values.parameterResource ?? [],
    ].flat(),
    // Modules and documents of its policies stand beside policies.yaml as a rule.
    ...(policyIds.length > 0 && settings.file !== undefined ? [dirname(settings.file)] : []),
  ];
  const lookedAt = await lookedOver(resourcePaths, inputs, new KnownKinds(definitions), values, {
    inputs: beside,
    io,
  });
  const plan: ScanPlan = {
    policyPaths,
    policyIds,
    stdin: policyText,
    ...(settings.file !== undefined && { policiesFile: settings.file }),
    exceptions: within ? exceptionsOrThrow(lookedAt.looked) : await readExceptions(named, warn),
    exceptionsWithinPolicies: values.exceptionsWithinPolicies === true,
    values: read,
    operation: read.operation ?? "CREATE",
    ...(user && { user }),
    definitions,
    ...(values.contextFile !== undefined && { contextFile: await contextText(values.contextFile) }),
    parameterPaths: values.parameterResource ?? [],
    assumeBound: values.assumeBound === true,
    wanted: output.wanted,
  };
  return { plan, ...lookedAt };
}

const crdPathsOf = ({ crdPaths = [], crdPath = [] }: ApplyValues): readonly string[] => [...crdPaths, ...crdPath];

/** Files of policies, and ids of those in policies.yaml: a word that is not a file is an id if there is a policies.yaml. */
function namedPolicies(
  paths: readonly string[],
  { file }: LoaderSettings,
): Pick<ScanPlan, "policyPaths" | "policyIds"> {
  if (file === undefined) return { policyPaths: paths, policyIds: [] };
  const isFile = (path: string): boolean => path === "-" || existsSync(path);
  return { policyPaths: paths.filter(isFile), policyIds: paths.filter((path) => !isFile(path)) };
}

/** Resources, found but not yet judged. */
interface LookedOver {
  readonly files: readonly InputFile[];
  readonly looked: Survey;
  /** Number of files in folders without a Kubernetes object. */
  readonly leftOut: number;
  /** Whether only a part of the files was chosen. */
  readonly isPart: boolean;
}

async function lookedOver(
  paths: readonly string[],
  inputs: Inputs,
  kinds: KnownKinds,
  values: ApplyValues,
  beside: { readonly inputs: readonly string[]; readonly io: CommandIo },
): Promise<LookedOver> {
  try {
    const { namespace, changed: base } = values;
    const said = certificateRequestValues(values);
    const given = await inputs.files(paths);
    const chosen =
      base === undefined ? undefined : await onlyChanged(given, { base, inputs: beside.inputs, env: beside.io.env });
    if (chosen !== undefined) say(beside.io.stderr, `note: ${chosen.note}`);
    const { files: objects, leftOut } = await withoutForeign(chosen?.files ?? given);
    const { files, made } = await withCertificateRequests(objects, { ...said, namespace });
    const flags = givenFlags(said);
    if (made === 0 && flags !== "") throw new ScanError(`no CSR is among the resources, for which alone ${flags} is`);
    const isPart = chosen !== undefined && chosen.files.length < given.length;
    // A path of which all files are unchanged is not empty.
    const isUnchanged = (path: string): boolean =>
      isPart && given.some((file) => file.given === path) && !chosen.files.some((file) => file.given === path);
    const looked = await survey(
      files,
      kinds,
      paths.filter((path) => !isUnchanged(path)),
    );
    return { files, looked, leftOut, isPart };
  } catch (error) {
    if (error instanceof ScanError)
      throw new ScanError(`failed to load resources (${error.message})`, { cause: error });
    throw error;
  }
}

async function contextText(path: string): Promise<string> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new ScanError(`open ${path}: ${reasonOf(error)}`, { cause: error });
  });
  return yamlText(bytes);
}

const refused = (message: string, { compat }: ApplyValues, { stderr }: CommandIo): number => {
  say(stderr, `Error: ${message}`);
  return compat === "kyverno" ? KYVERNO_FAILED : EXIT.NOT_ASKED;
};
