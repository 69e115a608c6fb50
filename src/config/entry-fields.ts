/** The keys of every kind of entry and member: the one definition behind reading, the JSON Schema and the documentation. */

import { CapabilityPatternError, parseCapabilities } from "./capability-patterns.js";
import { celPolicy } from "./cel-fields.js";
import { certificateRequests } from "./certificate-request-fields.js";
import { groupAnnotations } from "./group-annotations.js";
import { HostPatternError, parseHostPatterns } from "./host-patterns.js";
import { type Fields, optional, record, required } from "./record-shape.js";
import { anyValue, flag, integer, jsonObject, listOf, mapOf, oneOf, oneOrMore, type Shape, text } from "./shape.js";

/** Longest time limit, in seconds: a day. Kubernetes itself waits 30 s at most; the bound keeps timers within 32 bits. */
const MAX_TIMEOUT_SECONDS = 86_400;
/** Most memory that WASM's 32-bit addresses can reach, in MiB. */
const MAX_MEMORY_MIB = 4096;

/** A pattern of spec kubewarden.md 1.5, with its mistakes in Kubewarden's words. */
const capabilityPattern: Shape<string> = {
  label: "capability pattern",
  schema: { type: "string", examples: ["*", "oci/*", "kubernetes/get_resource"] },
  read(node, path, sink) {
    const pattern = text("a capability pattern", { mayBeEmpty: true }).read(node, path, sink);
    if (pattern === undefined) return undefined;
    try {
      parseCapabilities([pattern]);
      return pattern.trim();
    } catch (mistake) {
      if (!(mistake instanceof CapabilityPatternError)) throw mistake;
      sink.error(path, `invalid hostCapabilities pattern for policy ${sink.policy}: ${mistake.message}`);
      return undefined;
    }
  },
};

/** A host, or a pattern for hosts, of `allowedHosts`. */
export const hostPattern: Shape<string> = {
  label: "host pattern",
  schema: { type: "string", minLength: 1, examples: ["api.example.com", "*.example.com"] },
  read(node, path, sink) {
    const pattern = text("a host or a pattern for hosts").read(node, path, sink);
    if (pattern === undefined) return undefined;
    try {
      parseHostPatterns([pattern]);
      return pattern;
    } catch (mistake) {
      if (!(mistake instanceof HostPatternError)) throw mistake;
      sink.error(path, mistake.message);
      return undefined;
    }
  },
};

/** Deny, Warn and Audit, but not both of the first two: the client would get the message twice. */
const validationActions: Shape<readonly ("Deny" | "Warn" | "Audit")[]> = {
  ...listOf(oneOf("Deny", "Warn", "Audit")),
  read(node, path, sink) {
    const actions = listOf(oneOf("Deny", "Warn", "Audit")).read(node, path, sink);
    const mistake =
      actions === undefined
        ? undefined
        : actions.length === 0
          ? "must not be empty"
          : new Set(actions).size < actions.length
            ? "must not repeat an action"
            : actions.includes("Deny") && actions.includes("Warn")
              ? "must not contain both Deny and Warn"
              : undefined;
    if (mistake === undefined) return actions;
    sink.error(path, mistake);
    return undefined;
  },
};

const policyMode = optional(
  oneOf("protect", "monitor"),
  "`protect` enforces; `monitor` always allows, and logs what it would have said.",
  "`protect`",
);
const allowedToMutate = optional(flag, "Whether the policy may change the object.", "`false`");
const message = optional(
  text("a message"),
  "Custom rejection message: it becomes the status message, and the policy's own words a cause.",
);
const timeoutEvalSeconds = optional(
  integer(1, MAX_TIMEOUT_SECONDS),
  "Time limit of one evaluation in seconds; replaces the server's.",
  "`--policy-timeout`",
);
const hostCapabilities = optional(
  listOf(capabilityPattern),
  "Host capabilities that the guest may use: `*`, `<prefix>/*`, or complete paths such as `oci/v2/verify`.",
  "`[]`: none",
);
const validationActionsField = optional(
  validationActions,
  "What a failed validation does; replaces the actions of bindings.",
  "the binding's, else `[Deny]`",
);
const groupWarnings = optional(
  oneOf("none", "rejected", "all"),
  "Which members a group's answer has a warning line for. `all`: every one; `rejected`: every one when the group denies, and only those that rejected, failed or warned when it allows; `none`: no warnings.",
  "`rejected`",
);
const namespacedName = optional(anyValue, "Written by the Kubewarden controller; ignored.");

const module = {
  module: required(
    text("the address of a WASM module"),
    "Address of the WASM module, or of an Extism manifest (JSON, TOML): a path, `file://`, `https://`, `http://`, `registry://`, or an OCI reference. `url` is an alias.",
  ),
  settings: optional(jsonObject, "Settings, handed to the module unchanged.", "`{}`"),
  timeoutEvalSeconds,
  contextAwareResources: optional(
    listOf(
      record({
        apiVersion: required(text("an API version"), "Such as `v1` or `apps/v1`."),
        kind: required(text("a kind"), "Such as `Deployment`."),
      }),
    ),
    "Kubernetes kinds that the guest may read.",
    "`[]`",
  ),
  hostCapabilities,
  executionMode: optional(
    oneOf("kubewarden-wapc", "kubewarden", "opa", "gatekeeper", "wasi", "extism"),
    "Guest protocol, for a module whose metadata doesn't say; `kubewarden` is the same as `kubewarden-wapc`.",
    "from the module",
  ),
  native: optional(
    flag,
    "Whether a module that is known to only run CEL rules may be replaced by the server's own CEL engine.",
    "`true`",
  ),
  memoryLimitMiB: optional(integer(1, MAX_MEMORY_MIB), "Most memory of the guest, in MiB.", "the server's limit"),
  config: optional(
    mapOf(text("a string", { mayBeEmpty: true })),
    "Extism modules: configuration that the plugin reads by `config_get`; goes before the manifest's, key by key.",
    "the manifest's, else none",
  ),
  allowedHosts: optional(
    listOf(hostPattern),
    "Extism modules: hosts that the plugin may send HTTP requests to. `*`, `?`, `[a-z]` and `{a,b}` have their meaning.",
    "those of a manifest that is a file, else none",
  ),
  logLevel: optional(
    oneOf("trace", "debug", "info", "warn", "error", "silent"),
    "Extism modules: log lines of the plugin below this level are dropped.",
    "`trace`",
  ),
  warmStart: optional(
    flag,
    "Whether the module's instances may begin with a state that was taken once, in place of running their start for every request.",
    "`true`",
  ),
};

const resource = {
  resource: required(
    oneOrMore(text("the path of a file or folder")),
    "Files or folders of YAML documents: ValidatingAdmissionPolicies and MutatingAdmissionPolicies with their bindings and parameters, policies of Kyverno and cert-manager, or one policy or group of Kubewarden. Relative to this file.",
  ),
  timeoutEvalSeconds,
  hostCapabilities: { ...hostCapabilities, default: '`["*"]`: all, as the Kubewarden controller has it' },
  validationActions: validationActionsField,
  certificateRequests: optional(
    certificateRequests,
    "For CertificateRequestPolicies: who may use them, and how they decide.",
    "those of its keys",
  ),
  groupWarnings,
};

const cel = {
  cel: required(celPolicy, "An inline CEL policy: the spec of a ValidatingAdmissionPolicy."),
  timeoutEvalSeconds,
};

const expression = {
  expression: required(
    text("a CEL expression over the members"),
    "CEL expression with one function per member; true allows the request.",
  ),
  policies: required(anyValue, "The members by name."),
  message: required(text("a message"), "Status message when the expression is false."),
  messageExpression: optional(
    text("a CEL expression of a text"),
    "CEL expression over the members that makes the message of a denial: one line. Where it fails, `message` stands.",
  ),
  auditAnnotations: optional(
    groupAnnotations,
    "Audit annotations of the answer: CEL expressions over the members by their keys, or a list of `key` and `valueExpression`. An empty text leaves no annotation.",
    "none",
  ),
  groupWarnings,
  timeoutEvalSeconds: { ...timeoutEvalSeconds, doc: "Time limit of the whole group in seconds.", default: "none" },
};

/** The keys that decide the kind of an entry. */
export const KIND_KEYS = ["module", "resource", "cel", "expression"] as const;
/** The kinds of entries, by their key. */
export type KindKey = (typeof KIND_KEYS)[number];

/** Keys of top-level entries. */
export const ENTRY_FIELDS = {
  module: { ...module, policyMode, allowedToMutate, message, namespacedName },
  resource: { ...resource, policyMode, allowedToMutate, message },
  cel: { ...cel, validationActions: validationActionsField, policyMode, message },
  expression: { ...expression, policyMode, namespacedName },
} satisfies Record<KindKey, Fields>;

/** Keys of members of a group. Mode, mutation and custom messages belong to the group. */
export const MEMBER_FIELDS = { module, resource, cel, expression } satisfies Record<KindKey, Fields>;

/** A member that is an existing policy or group. */
export const REFERENCE_FIELDS = {
  policy: required(text("the name of a policy"), "Name of an existing policy or group."),
} satisfies Fields;
