/** Webhook configurations, decoded and checked as the API server does it with its static manifests (spec static-manifests.md). */
import {
  duplicate,
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
} from "../../kubernetes/field-error.js";
import { normalBase64 } from "../../kubernetes/go-types/go-base64.js";
import { dns1035LabelErrors } from "../../kubernetes/name-formats.js";
import { type ApiType, integer, list, parsed, salvage, string, struct } from "../shared/decode/api-type.js";
import { isConsequence, misread } from "../shared/decode/misread.js";
import { OBJECT_META } from "../shared/decode/object-meta.js";
import { type Metadata, validateMetadata, type Writing } from "../shared/decode/validate-metadata.js";
import type { ExpressionCompiler } from "../shared/expressions/expression-compiler.js";
import type { LabelSelector } from "../shared/match/label-selector.js";
import type { ResourceRule } from "../shared/match/resource-rule.js";
import { validateRule, validateSelector, webhookNameErrors } from "../shared/match/validate-match.js";
import { LABEL_SELECTOR, RULE_MEMBERS } from "./api-types.js";
import { compileCommon } from "./compiled-common.js";
import type { NamedExpression } from "./resource.js";
import { validateConditions } from "./validate-common.js";

interface Webhook {
  readonly name?: string;
  readonly clientConfig?: { readonly url?: string; readonly service?: object };
  readonly rules?: readonly ResourceRule[];
  readonly failurePolicy?: string;
  readonly matchPolicy?: string;
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly sideEffects?: string;
  readonly timeoutSeconds?: number | bigint;
  readonly admissionReviewVersions?: readonly string[];
  readonly matchConditions?: readonly NamedExpression[];
  readonly reinvocationPolicy?: string;
}

const OCTETS = list({ kind: "integer", go: "uint8" });
const CA_BUNDLE = parsed((text) => {
  const read = normalBase64(text);
  return "error" in read ? read.error : undefined;
}, OCTETS);

const MUTATING = "MutatingWebhookConfiguration";
const typeOf = (kind: string): ApiType => {
  const webhook = struct(`v1.${kind.replace("Configuration", "")}`, {
    name: string(),
    clientConfig: struct("v1.WebhookClientConfig", {
      url: string(),
      service: struct("v1.ServiceReference", { namespace: string(), name: string(), path: string(), port: integer }),
      caBundle: CA_BUNDLE,
    }),
    rules: list(struct("v1.RuleWithOperations", RULE_MEMBERS)),
    failurePolicy: string("v1.FailurePolicyType"),
    matchPolicy: string("v1.MatchPolicyType"),
    namespaceSelector: LABEL_SELECTOR,
    objectSelector: LABEL_SELECTOR,
    sideEffects: string("v1.SideEffectClass"),
    timeoutSeconds: { ...integer, go: "int32" },
    admissionReviewVersions: list(string()),
    matchConditions: list(struct("v1.MatchCondition", { name: string(), expression: string() })),
    ...(kind === MUTATING && { reinvocationPolicy: string("v1.ReinvocationPolicyType") }),
  });
  const members = { apiVersion: string(), kind: string(), metadata: OBJECT_META, webhooks: list(webhook) };
  return struct(`v1.${kind}`, members);
};
const TYPES: ReadonlyMap<string, ApiType> = new Map(
  [MUTATING, "ValidatingWebhookConfiguration"].map((kind) => [kind, typeOf(kind)]),
);

/** Whether a kind is one of webhook configurations. */
export const isWebhookKind = (kind: string): boolean => TYPES.has(kind);

/**
 * All mistakes of a webhook configuration in a static manifest.
 * @param kind one of {@link isWebhookKind}
 * @param compiler compiles match conditions as policies' own
 */
export function webhookMistakes(
  document: unknown,
  kind: string,
  compiler: Pick<ExpressionCompiler, "compile">,
  writing: Writing,
): readonly FieldError[] {
  const { value, mistakes } = salvage(document, TYPES.get(kind)!);
  const unread = mistakes.map((mistake) => misread(mistake));
  const { metadata = {}, webhooks = [] } = value as {
    readonly metadata?: Metadata;
    readonly webhooks?: readonly Webhook[];
  };
  const names = new Set<string>();
  const found = webhooks.flatMap((webhook, i) => {
    const path = ["webhooks", i];
    const { name = "" } = webhook;
    const repeated = name !== "" && names.has(name) ? [duplicate([...path, "name"], name)] : [];
    names.add(name);
    return [...oneWebhook(webhook, path, compiler), ...repeated];
  });
  const wrong = [...validateMetadata(metadata, writing), ...found].filter((error) => !isConsequence(error, unread));
  return [...unread, ...wrong];
}

/** The values that some members may have. */
const CHOICES = {
  failurePolicy: ["Fail", "Ignore"],
  matchPolicy: ["Equivalent", "Exact"],
  sideEffects: ["None", "NoneOnDryRun"],
  reinvocationPolicy: ["IfNeeded", "Never"],
} as const;
const REVIEW_VERSIONS = ["v1", "v1beta1"];
const MOST_SECONDS = 30;

function oneWebhook(webhook: Webhook, path: FieldPath, compiler: Pick<ExpressionCompiler, "compile">): FieldError[] {
  const { rules = [], namespaceSelector, objectSelector, sideEffects, timeoutSeconds: seconds } = webhook;
  const at = (...members: readonly string[]): FieldPath => [...path, ...members];
  const errors = webhookNameErrors(webhook.name ?? "", at("name"));
  errors.push(...rules.flatMap((rule, i) => validateRule(rule, [...at("rules"), i])));
  for (const [key, allowed] of Object.entries(CHOICES)) {
    const value = webhook[key as keyof typeof CHOICES];
    if (value !== undefined && !allowed.includes(value as never)) errors.push(notSupported(at(key), value, allowed));
  }
  if (sideEffects === undefined)
    errors.push(required(at("sideEffects"), `must specify one of ${CHOICES.sideEffects.join(", ")}`));
  if (seconds !== undefined && (seconds < 1 || seconds > MOST_SECONDS))
    errors.push(invalid(at("timeoutSeconds"), seconds, "the timeout value must be between 1 and 30 seconds"));
  if (namespaceSelector) errors.push(...validateSelector(namespaceSelector, at("namespaceSelector")));
  if (objectSelector) errors.push(...validateSelector(objectSelector, at("objectSelector")));
  errors.push(...clientErrors(webhook.clientConfig ?? {}, at("clientConfig")));
  const compiled = compileCommon({ matchConditions: webhook.matchConditions ?? [] }, compiler, "written");
  errors.push(...validateConditions(webhook, compiled, at("matchConditions")));
  errors.push(...versionErrors(webhook.admissionReviewVersions ?? [], at("admissionReviewVersions")));
  return errors;
}

function clientErrors({ url, service }: NonNullable<Webhook["clientConfig"]>, path: FieldPath): FieldError[] {
  if (service !== undefined) {
    const text = "clientConfig.service is not supported for static manifests; use clientConfig.url instead";
    const hint =
      "the API server reads these files before it knows any Service: write the address as url: https://host:port/path";
    return [{ path: [...path, "service"], text, hint }];
  }
  if (url === undefined) return [required([...path, "url"], "clientConfig.url is required for static manifests")];
  return urlErrors(url).map((detail) =>
    invalid([...path, "url"], url, `${detail}; desired format: https://host[/path]`),
  );
}

function urlErrors(url: string): readonly string[] {
  const [, scheme = "", authority = "", query, fragment] =
    /^(?:([a-z][a-z\d+.-]*):)?(?:\/\/([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/is.exec(url) ?? [];
  const host = authority.replace(/^.*@/, "");
  // Go takes any number as a port, a zone of an address, more signs and a stray `]`, but fewer escapes.
  const plain = host
    .replace(/:\d*$/, "")
    .replace(/%25[^\]]+\]$/, "]")
    .replaceAll(/["<>]|%25|(?<!^\[.*)\]/g, "g");
  const wrong = /[^ -~\u0080-\u{10ffff}]|%(?![0-9a-f]{2})/iu.test(url.slice(0, url.length - (query?.length ?? 0)));
  if (wrong || /[%\\`{|}]|^[^[].*:/.test(plain) || (plain !== "" && !URL.canParse(`https://${plain}`)))
    return ["url must be a valid URL"];
  return [
    ...(scheme.toLowerCase() === "https" ? [] : ["'https' is the only allowed URL scheme"]),
    ...(host === "" ? ["host must be specified"] : []),
    ...(authority.includes("@") ? ["user information is not permitted in the URL"] : []),
    ...(fragment ? ["fragments are not permitted in the URL"] : []),
    ...(query ? ["query parameters are not permitted in the URL"] : []),
  ];
}

function versionErrors(versions: readonly string[], path: FieldPath): FieldError[] {
  if (versions.length === 0) return [required(path, `must specify one of ${REVIEW_VERSIONS.join(", ")}`)];
  const errors = versions.flatMap((version, i): FieldError[] =>
    versions.indexOf(version) < i
      ? [invalid([...path, i], version, "duplicate version")]
      : dns1035LabelErrors(version).map((error) => invalid([...path, i], version, error)),
  );
  if (!versions.some((version) => REVIEW_VERSIONS.includes(version)))
    errors.push(invalid(path, versions, `must include at least one of ${REVIEW_VERSIONS.join(", ")}`));
  return errors;
}
