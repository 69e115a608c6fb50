/** `webhooks`: webhook configurations for the policies of a policies.yaml, or those that the leader of a cluster's server writes. */
import { readFileSync } from "node:fs";
import {
  type ConfigurationIdentity,
  configurationObject,
  place,
  WEBHOOK_TYPES,
  type WebhookTarget,
  type WebhookType,
  webhookObject,
} from "../cluster/webhooks/configuration.js";
import { webhooksFor } from "../cluster/webhooks/derive.js";
import type { DerivedWebhook } from "../cluster/webhooks/derived-webhook.js";
import { askedEntries } from "../cluster/webhooks/from-entries.js";
import { mistakesIn } from "../cluster/webhooks/mistakes.js";
import { type ConfigEntry, formatProblem, loadConfig } from "../config/index.js";
import { type CommandIo, say, UsageError } from "../data/command-io.js";
import { EXIT, nothingJudged } from "../data/exit-codes.js";
import { fileProblem } from "../data/file-problem.js";
import { printYaml } from "../data/print-yaml.js";
import { STATIC_SUFFIX } from "../kinds/shared/decode/validate-metadata.js";
import { formatFieldError } from "../kubernetes/field-error.js";
import { dns1123SubdomainErrors } from "../kubernetes/name-formats.js";
import { givenFile, type LoaderSettings, policiesFile } from "../loader/settings.js";
import { exemptNamespaces, exceptionNamespaces as namespacesOfExceptions } from "./loader-settings.js";
import type { FoundWebhooks, FromCluster } from "./webhooks-from-cluster.js";

/** The target of the webhooks. */
export interface WebhooksOptions {
  /** `<namespace>/<name>`. */
  readonly service: string;
  readonly webhookUrl?: string;
  /** A PEM file. */
  readonly caFile?: string;
  /** The cluster's policies in place of a file's. */
  readonly fromCluster?: true;
  readonly policyServerName: string;
  readonly exceptionNamespaces?: string;
  readonly kyvernoClusterPolicies?: boolean;
  readonly exemptNamespaces?: string;
  readonly enforceAdmissionPolicies?: boolean;
  readonly enforceMutatingAdmissionPolicies?: boolean;
  readonly kubeconfig?: string;
  /** Seconds, as typed. */
  readonly timeout?: string;
  readonly failurePolicy?: string;
  readonly output: string;
  /** Static manifests of an API server in place of objects for its API. */
  readonly static?: boolean;
  /** Only the configurations of one type. */
  readonly type?: WebhookType;
}

/** Fields of webhooks from the command line, in place of the policies' own. */
type Overrides = Partial<Pick<DerivedWebhook, "timeoutSeconds" | "failurePolicy">>;

/** The identity of configurations for a file, different from those that a server keeps itself. */
const OF_FILE: ConfigurationIdentity = { base: "policies", labels: { "app.kubernetes.io/name": "policy-server" } };

/**
 * Prints webhook configurations as YAML or JSON, and on standard error the policies without one, with the reason.
 * @returns 0; 1 when one has none, 2 when the file or the cluster can't be read, 3 when there is no policy
 */
export async function webhooksCommand(
  settings: LoaderSettings,
  options: WebhooksOptions,
  io: CommandIo,
): Promise<number> {
  const { target, namespace } = targetOf(options);
  if (options.static && target.url === undefined)
    throw new UsageError(
      "--static: an API server asks no Service from its static manifests: give --webhook-url https://<host>:<port>",
    );
  const isStatic = options.static === true;
  const asked = { namespace, exemptNamespaces: exemptNamespaces(options.exemptNamespaces), isStatic };
  const overrides = overridesOf(options);
  let found: FoundWebhooks;
  try {
    found = await (options.fromCluster ? ofCluster(settings, options, asked, io) : ofFile(settings, asked, io));
  } catch (error) {
    say(io.stderr, `Error: ${error instanceof Error ? error.message : String(error)}`);
    return EXIT.NOT_ASKED;
  }
  const { webhooks, problems, advice, identity } = found;
  for (const { id, text } of advice) say(io.stderr, `warning: ${id}: ${text}`);
  const unnameable = target.url === undefined ? webhooks.filter((webhook) => !isServicePath(webhook)) : [];
  const all = [
    ...problems,
    ...unnameable.map(({ members: [id = ""] }) => ({
      id,
      text: "cannot be asked by way of a Service: name it with lower-case letters, digits, '-' and '.' alone, or give --webhook-url",
    })),
  ];
  const nameable = webhooks.filter((webhook) => !unnameable.includes(webhook));
  const refused = new Map(nameable.map((webhook) => [webhook, refusalOf(webhook)]));
  for (const [{ members }, text] of refused) if (text !== "") all.push(...members.map((id) => ({ id, text })));
  for (const { id, text } of all) say(io.stderr, `${id}: ${text}`);
  const named = nameable.filter((webhook) => refused.get(webhook) === "");
  const made = objects(
    named.map((webhook) => ({ ...webhook, ...overrides })),
    target,
    identity,
    options,
  );
  if (options.static && options.type === undefined && new Set(named.map(({ type }) => type)).size > 1)
    say(io.stderr, "warning: the plugins of the two types read directories of their own: print each with --type");
  io.stdout.write(options.output === "json" ? asJson(made) : made.map(asYaml).join(""));
  if (all.length > 0) return EXIT.NO;
  return made.length === 0 ? nothingJudged("there is no policy", io) : EXIT.FINE;
}

const asYaml = (object: object): string => `---\n${printYaml(object)}`;

/** One List, as in kubectl. */
const asJson = (items: readonly object[]): string =>
  `${JSON.stringify({ apiVersion: "v1", kind: "List", items }, undefined, 2)}\n`;

/** Whether a path is valid for a Service: the API server demands that each part of it is a name. */
const isServicePath = ({ path }: DerivedWebhook): boolean =>
  path
    .slice(1)
    .split("/")
    .every((part) => dns1123SubdomainErrors(part).length === 0);

/** The reason why the API server would refuse a configuration with the webhook; empty: none is known here. Paths are checked with a Service only. */
function refusalOf(webhook: DerivedWebhook): string {
  const mistakes = mistakesIn(webhook).filter(({ path: [at] }) => at !== "path");
  return mistakes.length === 0
    ? ""
    : `the API server refuses its webhook: ${mistakes.map(formatFieldError).join("; ")}`;
}

/** @throws Error with the problem of the file as a whole */
function entriesOf(file: string, { stderr }: CommandIo): readonly ConfigEntry[] {
  const read = loadConfig(file);
  if (!read.ok) throw new Error(read.message);
  for (const problem of read.problems) say(stderr, formatProblem(problem));
  return read.config.entries;
}

/** The options that decide what is asked about. */
type AskedNamespaces = Pick<FromCluster, "namespace" | "exemptNamespaces" | "isStatic">;

async function ofFile(
  settings: LoaderSettings,
  { namespace, ...asked }: AskedNamespaces,
  io: CommandIo,
): Promise<FoundWebhooks> {
  const entries = entriesOf(policiesFile(settings), io);
  const { moduleRules } = await import("./webhooks-module-rules.js");
  const { policies, problems: unasked } = askedEntries(entries, await moduleRules(entries, settings, io));
  const { problems, ...derived } = webhooksFor(policies, { ownNamespace: namespace, ...asked });
  return { ...derived, problems: [...unasked, ...problems], identity: OF_FILE };
}

async function ofCluster(
  settings: LoaderSettings,
  options: WebhooksOptions,
  asked: AskedNamespaces,
  io: CommandIo,
): Promise<FoundWebhooks> {
  const { webhooksFromCluster } = await import("./webhooks-from-cluster.js");
  const file = givenFile(settings);
  const taken = new Set(file === undefined ? [] : entriesOf(file, io).map(({ id }) => id));
  const { policyServerName: policyServer, kubeconfig } = options;
  const exceptionNamespaces = namespacesOfExceptions(options);
  return webhooksFromCluster({ ...options, policyServer, kubeconfig, exceptionNamespaces, ...asked, taken }, io.env);
}

function objects(
  webhooks: readonly DerivedWebhook[],
  target: WebhookTarget,
  identity: ConfigurationIdentity,
  { type: wanted, static: isStatic }: WebhooksOptions,
): readonly object[] {
  return WEBHOOK_TYPES.filter((type) => wanted === undefined || type === wanted).flatMap((type) => {
    const own = webhooks.filter((webhook) => webhook.type === type);
    const made = own.map((webhook) => ({ name: webhook.name, raw: webhookObject(webhook, target) }));
    return Array.from(place(made, new Map(), identity.base), ([name, placed]) =>
      configurationObject(
        type,
        isStatic ? `${name}${STATIC_SUFFIX}` : name,
        placed.map(({ raw }) => raw),
        identity,
      ),
    );
  });
}

/** The least and the most seconds that the API server accepts. */
const [LEAST_TIMEOUT, LONGEST_TIMEOUT] = [1, 30];

/** @throws UsageError */
function overridesOf({ timeout, failurePolicy }: WebhooksOptions): Overrides {
  const seconds = timeout === undefined || !/^\d{1,9}$/.test(timeout) ? undefined : Number(timeout);
  if (timeout !== undefined && !(seconds !== undefined && seconds >= LEAST_TIMEOUT && seconds <= LONGEST_TIMEOUT))
    throw new UsageError(
      `--timeout ${timeout}: expected whole seconds from ${LEAST_TIMEOUT} to ${LONGEST_TIMEOUT}, as the API server takes them`,
    );
  return {
    ...(seconds !== undefined && { timeoutSeconds: seconds }),
    ...(failurePolicy !== undefined && { failurePolicy }),
  };
}

/** @throws UsageError */
function targetOf({ service, webhookUrl, caFile }: WebhooksOptions): {
  readonly target: WebhookTarget;
  readonly namespace: string;
} {
  const [namespace = "", name = "", ...more] = service.split("/");
  if (name === "" || namespace === "" || more.length > 0) {
    throw new UsageError(`--service ${service}: expected <namespace>/<name>`);
  }
  if (webhookUrl !== undefined && !/^https:\/\/[^/?#]+\/?$/.test(webhookUrl)) {
    throw new UsageError(`--webhook-url ${webhookUrl}: expected https://<host>:<port>`);
  }
  const where = webhookUrl === undefined ? { service: { namespace, name } } : { url: webhookUrl };
  return { namespace, target: { ...where, ...(caFile !== undefined && { caBundle: authorities(caFile) }) } };
}

function authorities(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageError(`--ca-file ${file}: ${fileProblem(error)}`);
  }
}
