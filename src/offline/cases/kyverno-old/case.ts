/** Decides a case of Kyverno's old language: policies are converted and judge resources, in the words of Kyverno's own command (spec kyverno-old.md). */
import type { Compilers } from "../../../kinds/kyverno/dialect.js";
import {
  bindingsOf,
  type CompiledPolicy,
  type ExceptionResource,
  isMutating,
  isOldPolicy,
  KyvernoEngine,
  mutatingEngine,
  originOf,
  type PolicyResource,
  type PolicyResponse,
  preparePolicies,
  readOldExceptions,
  readOldPolicy,
  resultOfOldRule,
} from "../../../kinds/kyverno/index.js";
import { readResource } from "../../../kinds/kyverno/read.js";
import { formatPath } from "../../../kubernetes/field-error.js";
import { compareNames, parseApiVersion } from "../../../kubernetes/names.js";
import { isObject, type JsonObject, nameOf, namespaceOf, text } from "../../../kubernetes/object.js";
import { NO_OPINION } from "../../../world/authorizer/authorizer.js";
import { NO_EXTERNAL } from "../../../world/external.js";
import { commandLineData } from "../../../world/offline-values.js";
import { FileResources } from "../../../world/resources/file-resources.js";
import type { World } from "../../../world/world.js";
import { type User, type Values, valuesOf } from "../../scan/circumstances.js";
import { KnownKinds } from "../../scan/known-kinds.js";
import { withValues } from "../../scan/old-values.js";
import { admissionInput, requestFor } from "../../scan/request.js";

/** One rule's answer about one resource; there is none where the rule does not match. */
interface Row {
  readonly policy: string;
  readonly rule: string;
  /** `namespace/Kind/name`, without the namespace where there is none. */
  readonly resource: string;
  readonly result: string;
  readonly message: string;
  readonly properties?: Readonly<Record<string, string>>;
}

/** The answer to a case. */
export interface OldKyvernoExpectation {
  /** Sorted by policy, rule and resource; none where something is not converted. */
  readonly rows: readonly Row[];
  /** Objects as the policies that change them leave them. */
  readonly patched?: readonly { readonly policy: string; readonly resource: string; readonly object: unknown }[];
  /** The parts that are not converted: then no resource is judged. */
  readonly "not converted"?: readonly { readonly policy: string; readonly place: string; readonly reason: string }[];
  /** Why the policies can't be evaluated. */
  readonly "command error"?: string;
}

/** The time limit of a case: there is none. */
const NO_LIMITS = { deadline: Number.POSITIVE_INFINITY, signal: new AbortController().signal };

/** Decides a case. */
export async function decideOldKyvernoCase(written: JsonObject, compilers: Compilers): Promise<OldKyvernoExpectation> {
  const values = valuesOf(isObject(written.values) ? written.values : {});
  const read = listOf(written.policies).map((policy) => readPolicy(policy, values));
  const reasons = read.flatMap(({ reasons }) => reasons);
  if (reasons.length > 0) return { rows: [], "not converted": reasons };
  const known = read.flatMap((each) => each.known ?? []);
  const given = listOf(written.exceptions) as unknown as readonly ExceptionResource[];
  const { exceptions } = readOldExceptions(given, known);
  const { policies, failures } = preparePolicies(
    read.flatMap(({ policies }) => policies),
    exceptions,
    { compilers },
  );
  const [failure] = failures;
  if (failure !== undefined) return { rows: [], "command error": failure.text };
  return new Judging(policies, written, values).run();
}

function readPolicy(policy: JsonObject, values: Values) {
  const refused = (place: string, reason: string) => ({ policy: nameOf(policy), place, reason });
  if (!isOldPolicy(policy)) {
    const found = readResource(policy);
    if (found.kind === "policy") return { policies: [found.resource], reasons: [] };
    const reason = found.kind === "unreadable" ? found.text : `no policy: ${text(policy, "kind")}`;
    return { policies: [], reasons: [refused("", reason)] };
  }
  const { rules, reasons, known } = readOldPolicy(withValues(policy, values.old));
  const all = [...reasons, ...rules.flatMap(({ reason }) => reason ?? [])];
  return {
    known,
    policies: rules.flatMap((rule) => rule.policies.map(({ resource }) => resource)),
    reasons: all.map(({ path, message }) => refused(formatPath(path), message)),
  };
}

/** The judging of one case (disposable). */
class Judging {
  readonly #rows: Row[] = [];
  readonly #patched: { policy: string; resource: string; object: unknown }[] = [];
  readonly #kinds = new KnownKinds();
  /** Old rules that mutate, what judges, and MutatingPolicies: in this order, as Kyverno's command asks them. */
  readonly #before: KyvernoEngine;
  readonly #judging: KyvernoEngine;
  readonly #after: KyvernoEngine;
  readonly #user: User | undefined;

  constructor(
    policies: readonly CompiledPolicy[],
    readonly written: JsonObject,
    readonly values: Values,
  ) {
    const bound = isObject(written.userinfo) ? bindingsOf(written.userinfo) : undefined;
    this.#user = bound?.userInfo as User | undefined;
    const world = worldOf(values, bound?.bindings ?? []);
    const mutating = policies.filter(({ resource }) => isMutating(resource));
    const of = (isOld: boolean) => mutating.filter(({ origin }) => (origin !== undefined) === isOld);
    this.#before = mutatingEngine(of(true), { world });
    this.#after = mutatingEngine(of(false), { world });
    const judging = policies.filter(({ resource }) => !isMutating(resource));
    this.#judging = new KyvernoEngine(judging, { world, flavour: "command-line" });
  }

  async run(): Promise<OldKyvernoExpectation> {
    for (const given of listOf(this.written.resources)) {
      const object = this.#placed(given);
      const changed = await this.#ask(this.#before, object, true);
      await this.#ask(this.#judging, changed, false);
      await this.#ask(this.#after, changed, true);
    }
    const rows = this.#rows.sort((a, b) => compareNames(sortKey(a), sortKey(b)));
    return { rows, ...(this.#patched.length > 0 && { patched: this.#patched }) };
  }

  /** The object in its namespace: a command reads one without any as in a cluster's `default`. */
  #placed(object: JsonObject): JsonObject {
    const { metadata } = object;
    const group = parseApiVersion(text(object, "apiVersion"))?.group ?? "";
    const isNamespaced = this.#kinds.namespaced({ group, kind: text(object, "kind") }) === true;
    if (!isNamespaced || namespaceOf(object) !== "" || !isObject(metadata)) return object;
    return { ...object, metadata: { ...metadata, namespace: "default" } };
  }

  /** Adds the rows about an object. @returns the object as it is left */
  async #ask(engine: KyvernoEngine, object: JsonObject, mutates: boolean): Promise<JsonObject> {
    const [apiVersion, kind, namespace, name] = [
      text(object, "apiVersion"),
      text(object, "kind"),
      namespaceOf(object),
      nameOf(object),
    ];
    const type = parseApiVersion(apiVersion) ?? { group: "", version: apiVersion };
    const request = requestFor(
      { object, apiVersion, ...type, kind, namespace, name, uid: "", resourceVersion: "" },
      {
        kinds: this.#kinds,
        operation: this.values.operation ?? "CREATE",
        user: this.#user,
        subresources: this.values.subresources,
      },
    );
    const resource = [namespace, kind, name].filter((part) => part !== "").join("/");
    const input = mutates ? ({ kind: "admission", request } as const) : admissionInput(request);
    const { responses, failure, object: left = object } = await engine.decide(input, NO_LIMITS);
    for (const response of responses) {
      const { policy } = response;
      const named = { policy: policyName(policy.resource), resource };
      if (failure !== undefined)
        this.#rows.push({ ...named, rule: "evaluation", result: "error", message: failure.message });
      else this.#add(named, response, request.kind.kind);
      const isOfKind = response.variant.match?.written.some(({ resources = [] }) =>
        resources.some((each) => each === "*" || each === request.resource.resource),
      );
      if (
        mutates &&
        isOfKind === true &&
        !this.#patched.some((each) => each.policy === named.policy && each.resource === resource)
      )
        this.#patched.push({ ...named, object: left });
    }
    return left;
  }

  #add(named: Pick<Row, "policy" | "resource">, response: PolicyResponse, kind: string): void {
    const { policy, result } = response;
    const found = policy.origin === undefined ? result : resultOfOldRule(policy.origin, response, kind);
    if (found === undefined) return;
    const { rule, status, message, properties } = found;
    const row = { policy: named.policy, rule, resource: named.resource, result: status, message };
    this.#rows.push({ ...row, ...(Object.keys(properties).length > 0 && { properties }) });
  }
}

/** The world of Kyverno's command, which knows namespaces by the values alone. */
function worldOf(values: Values, bindings: readonly JsonObject[]): World {
  return {
    resources: new FileResources(values.namespaces),
    authorizer: NO_OPINION,
    external: commandLineData({ bindings }, NO_EXTERNAL.http),
    now: () => 0,
  };
}

/** `NAMESPACE/NAME` of a namespaced policy. */
function policyName(resource: PolicyResource): string {
  const { namespace = resource.metadata.namespace ?? "", policy = resource.metadata.name ?? "" } =
    originOf(resource) ?? {};
  return namespace === "" ? policy : `${namespace}/${policy}`;
}

const sortKey = ({ policy, rule, resource }: Row): string => `${policy}\u0000${rule}\u0000${resource}`;
const listOf = (list: unknown): readonly JsonObject[] => (Array.isArray(list) ? list.filter(isObject) : []);
