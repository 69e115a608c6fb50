/** The keys below `certificateRequests`: how CertificateRequestPolicies decide where a cluster would (spec certificate-request-policy.md 3.3, 3.4, 7). */
import type { Path } from "./documents/problem.js";
import type { SourceNode } from "./documents/source-node.js";
import type { BoundSubjects, CertificateRequestSettings } from "./entry.js";
import type { ProblemSink } from "./problem-sink.js";
import { type Hints, optional, record, required } from "./record-shape.js";
import { flag, listOf, oneOf, type Shape, text } from "./shape.js";

/** A name that is compared literally; a wildcard in it would silently match no one. */
function exact(what: string, form?: { readonly pattern: RegExp; readonly expected: string }): Shape<string> {
  const plain = text(what);
  const schema = { ...plain.schema, pattern: form?.pattern.source ?? "^[^*]+$" };
  return {
    ...plain,
    schema,
    read(node, path, sink) {
      const name = plain.read(node, path, sink);
      if (name === undefined) return undefined;
      const mistake = name.includes("*")
        ? "is compared as it stands: a * matches no name; for all who are signed in, write the group system:authenticated"
        : form !== undefined && !form.pattern.test(name)
          ? `expected ${form.expected}, found ${JSON.stringify(name)}`
          : undefined;
      if (mistake === undefined) return name;
      sink.error(path, mistake);
      return undefined;
    },
  };
}

/** A list that must not be empty: an empty one would silently match no one, or nothing. */
function oneAtLeast<T>(item: Shape<T>): Shape<readonly T[]> {
  const list = listOf(item);
  return {
    ...list,
    schema: { ...list.schema, minItems: 1 },
    read(node, path, sink) {
      const values = list.read(node, path, sink);
      if (values?.length !== 0) return values;
      sink.error(path, "must not be empty");
      return undefined;
    },
  };
}

const SERVICE_ACCOUNT = {
  pattern: /^[^:*]+:[^:*]+$/,
  expected: "a service account as namespace:name",
};
const patterns = (what: string): Shape<readonly string[]> => oneAtLeast(text(what));

const boundFields = record(
  {
    users: optional(oneAtLeast(exact("the name of a user")), "Names of users."),
    groups: optional(
      oneAtLeast(exact("the name of a group")),
      "Names of groups; they count where a request lists them.",
    ),
    serviceAccounts: optional(
      oneAtLeast(exact("a service account", SERVICE_ACCOUNT)),
      "Service accounts as `namespace:name`.",
    ),
    policies: required(
      patterns("the name of a policy"),
      "Names of policies that they may use; `*` stands for any text.",
    ),
    namespaces: optional(
      patterns("the name of a namespace"),
      "Namespaces of requests that it holds for; `*` stands for any text.",
      "all",
    ),
  },
  {
    user: 'write "users", a list',
    group: 'write "groups", a list',
    serviceAccount: 'write "serviceAccounts", a list',
    policy: 'write "policies", a list',
    namespace: 'write "namespaces", a list',
  } satisfies Hints,
);

/** The subjects that may use some policies. */
const bound: Shape<BoundSubjects> = {
  ...boundFields,
  schema: {
    ...boundFields.schema,
    anyOf: ["users", "groups", "serviceAccounts"].map((key) => ({ required: [key] })),
  },
  read(node, path, sink) {
    const before = sink.errorCount;
    const read = boundFields.read(node, path, sink);
    if (sink.errorCount > before) return undefined;
    if (read === undefined || read.users || read.groups || read.serviceAccounts) return read;
    sink.error(path, "does not say who may use the policies: expected users, groups or serviceAccounts");
    return undefined;
  },
};

const fields = record({
  binding: optional(
    oneOf("rbac", "map", "sar", "assume-bound"),
    "Who may use a policy. `rbac`: by the Roles and bindings among the documents; `map`: by `bound`; `sar`: the cluster is asked; `assume-bound`: every requester, with a warning.",
    "`rbac` with Roles and bindings among the documents, else `sar`",
  ),
  bound: optional(oneAtLeast(bound), "For `binding: map`: who may use which policies. All others may use none."),
  readiness: optional(
    oneOf("self", "status"),
    "Which policies are ready. `self`: all that could be loaded; `status`: those with a `Ready` condition that is true.",
    "`self`",
  ),
  unprocessed: optional(
    oneOf("allow", "deny"),
    "What becomes of the creation of a CertificateRequest that no policy decides.",
    "`allow`",
  ),
  invalidPolicies: optional(
    oneOf("refuse", "keep"),
    "What a policy with mistakes does. `refuse`: the entry is not loaded; `keep`: as a cluster that has stored it, its broken rules object to every request.",
    "`refuse`",
  ),
  strictNames: optional(
    flag,
    "Whether to deny requests whose subjectAltName has an entry with the number of a known kind of name but in another form: upstream does not look at those.",
    "`false`",
  ),
  verifySignature: optional(
    flag,
    "Whether the request must be signed with its own key: upstream does not look at the signature.",
    "`false`",
  ),
});

/** The condition in JSON Schema that the binding is `map`. */
const IS_MAP = { properties: { binding: { const: "map" } }, required: ["binding"] };

/** Reads `certificateRequests`. */
export const certificateRequests: Shape<CertificateRequestSettings> & Pick<typeof fields, "fields"> = {
  ...fields,
  label: "map",
  schema: {
    ...fields.schema,
    dependentSchemas: { bound: IS_MAP },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    ...{ if: IS_MAP, then: { required: ["bound"] } },
  },
  read(node: SourceNode, path: Path, sink: ProblemSink): CertificateRequestSettings | undefined {
    const before = sink.errorCount;
    const settings = fields.read(node, path, sink);
    if (settings === undefined || sink.errorCount > before) return undefined;
    if (settings.binding === "map" && settings.bound === undefined) {
      sink.error([...path, "binding"], 'needs the key "bound": who may use which policies', {
        code: "CONFIG_MISSING_KEY",
      });
      return undefined;
    }
    if (settings.binding !== "map" && settings.bound !== undefined) {
      sink.keyError([...path, "bound"], 'has no meaning here: only "binding: map" looks at it', {
        code: "CONFIG_MEANINGLESS_KEY",
      });
      return undefined;
    }
    return settings;
  },
};

/** The keys of an item of `bound`, for the documentation. */
export const boundKeys = boundFields.fields;
