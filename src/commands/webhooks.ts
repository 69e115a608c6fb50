/** `webhooks`: what to tell a cluster so that it asks the policies of a policies.yaml. */
import { readFileSync } from "node:fs";
import {
  configurationObject,
  place,
  WEBHOOK_TYPES,
  type WebhookTarget,
  webhookObject,
} from "../cluster/webhooks/configuration.js";
import { webhooksFor } from "../cluster/webhooks/derive.js";
import type { DerivedWebhook } from "../cluster/webhooks/derived-webhook.js";
import { askedEntries } from "../cluster/webhooks/from-entries.js";
import { formatProblem, loadConfig } from "../config/index.js";
import { yamlLibrary } from "../data/yaml-library.js";
import { dns1123SubdomainErrors } from "../kubernetes/name-formats.js";
import { type CommandIo, UsageError } from "./io.js";
import { policiesFile } from "./policies-file.js";

/** Where the webhooks of a cluster ask. */
export interface WebhooksOptions {
  /** `<namespace>/<name>`. */
  readonly service: string;
  readonly webhookUrl?: string;
  /** A file, PEM. */
  readonly caFile?: string;
}

/** Other names than those of configurations that a server keeps by itself. */
const BASE = "policies";
const LABELS = { "app.kubernetes.io/name": "policy-server" };

/**
 * Prints webhook configurations as YAML, and on standard error which entries have none and why.
 * @returns 0, or 1 when an entry has none
 */
export function webhooksCommand(
  values: Readonly<Record<string, unknown>>,
  options: WebhooksOptions,
  io: CommandIo,
): number {
  const { target, namespace } = targetOf(options);
  const read = loadConfig(policiesFile(values));
  if (!read.ok) {
    io.stderr.write(`Error: ${read.message}\n`);
    return 1;
  }
  for (const problem of read.problems) io.stderr.write(`${formatProblem(problem)}\n`);
  const { policies, problems: unasked } = askedEntries(read.config.entries);
  const { webhooks, problems } = webhooksFor(policies, { ownNamespace: namespace });
  const unnameable = target.url === undefined ? webhooks.filter((webhook) => !isServicePath(webhook)) : [];
  const all = [
    ...unasked,
    ...problems,
    ...unnameable.map(({ members: [id = ""] }) => ({
      id,
      text: "cannot be asked by way of a Service: name it with lower-case letters, digits, '-' and '.' alone, or give --webhook-url",
    })),
  ];
  for (const { id, text } of all) io.stderr.write(`${id}: ${text}\n`);
  for (const object of objects(
    webhooks.filter((webhook) => !unnameable.includes(webhook)),
    target,
  )) {
    io.stdout.write(`---\n${yamlLibrary().stringify(object, { lineWidth: 0, aliasDuplicateObjects: false })}`);
  }
  return all.length > 0 ? 1 : 0;
}

/** The API server takes a Service's path only if each part of it is a name. */
const isServicePath = ({ path }: DerivedWebhook): boolean =>
  path
    .slice(1)
    .split("/")
    .every((part) => dns1123SubdomainErrors(part).length === 0);

function objects(webhooks: readonly DerivedWebhook[], target: WebhookTarget): readonly object[] {
  return WEBHOOK_TYPES.flatMap((type) => {
    const own = webhooks.filter((webhook) => webhook.type === type);
    const made = own.map((webhook) => ({ name: webhook.name, raw: webhookObject(webhook, target) }));
    return Array.from(place(made, new Map(), BASE), ([name, placed]) =>
      configurationObject(
        type,
        name,
        placed.map(({ raw }) => raw),
        { base: BASE, labels: LABELS },
      ),
    );
  });
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
    throw new UsageError(`--ca-file: ${error instanceof Error ? error.message : String(error)}`);
  }
}
