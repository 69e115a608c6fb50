/** Asks policies about a request, in order, each to its end (spec validating-admission-policy.md 0.3). */
import type { EvaluationOptions } from "../../cel/index.js";
import { type AuthorizationAnswers, authorizerValues } from "../../cel-policy/expressions/authorization.js";
import { Run } from "../../cel-policy/expressions/evaluation-group.js";
import {
  type NamespaceViews,
  NO_NAMESPACE,
  namespaceViews,
  type VersionedInput,
  versionedInput,
} from "../../cel-policy/expressions/input.js";
import { matchRequest, namespaceNotFound } from "../../cel-policy/match/match-resources.js";
import type { Matched } from "../../cel-policy/match/match-rules.js";
import type { RequestAttributes } from "../../cel-policy/match/request-attributes.js";
import { apiVersionOf, type GroupVersionKind } from "../../kubernetes/names.js";
import { isObject } from "../../kubernetes/object.js";
import type { Authorizer } from "../../world/authorizer/authorizer.js";
import { LookupFailure, Pending, type ResourceSource } from "../../world/resources/resource-source.js";
import { type EvaluationInputs, evaluatePolicy, type PolicyEvaluation } from "./evaluation.js";
import type { AuditedFailure, Denial, Judgement, PolicyTrace, PublishedAnnotation } from "./judgement.js";
import { collectParams, paramValue } from "./params.js";
import type { PreparedBinding, PreparedPolicy } from "./prepared-policy.js";

/** Longest value of an audit annotation, in bytes. */
const ANNOTATION_MAX_BYTES = 10_240;

/** What judging needs. */
export interface JudgeOptions {
  readonly source: ResourceSource;
  readonly authorizer: Authorizer;
  /** Answers of the authorizer, kept while a request is judged repeatedly. */
  readonly answers: AuthorizationAnswers;
  readonly deadline: EvaluationOptions["deadline"];
  /** The caller has named the target: rules and selectors are not consulted, and objects are taken as they are. */
  readonly targeted: boolean;
}

/** A judgement; or what must be awaited, or that time ran out, before there can be one. */
export type JudgeResult =
  | { readonly judgement: Judgement }
  | { readonly awaited: readonly Promise<unknown>[] }
  | { readonly interrupted: true };

/** Judges a request. */
export function judge(
  policies: readonly PreparedPolicy[],
  request: RequestAttributes,
  options: JudgeOptions,
): JudgeResult {
  const judge = new Judge(request, options);
  for (const policy of policies) {
    judge.ask(policy);
    if (judge.ended) break;
  }
  return judge.result();
}

class Judge {
  private failure: Judgement["failure"];
  private readonly run: Run;
  private readonly denials: Denial[] = [];
  private readonly warnings: string[] = [];
  private readonly failures: AuditedFailure[] = [];
  private readonly annotations: PublishedAnnotation[] = [];
  private readonly traces: PolicyTrace[] = [];
  /** By matched kind and resource. */
  private readonly inputs = new Map<string, VersionedInput>();
  /** The input of policies that match the request as it is. */
  private original: VersionedInput | undefined;
  private namespaceFound: NamespaceViews | undefined;
  private readonly authorization: ReturnType<typeof authorizerValues>;

  constructor(
    private readonly request: RequestAttributes,
    private readonly options: JudgeOptions,
  ) {
    this.run = new Run(options.deadline);
    this.authorization = authorizerValues(request, options.authorizer, options.answers, this.run);
  }

  result(): JudgeResult {
    if (this.run.awaited.length > 0) return { awaited: this.run.awaited };
    if (this.run.interrupted) return { interrupted: true };
    const { denials, warnings, failures, annotations, traces, failure } = this;
    return { judgement: { denials, warnings, failures, annotations, traces, failure } };
  }

  /** Nothing that follows can change the result. */
  get ended(): boolean {
    return this.failure !== undefined || this.run.interrupted;
  }

  ask(policy: PreparedPolicy): void {
    const skipped = this.judgePolicy(policy);
    this.traces.push({ policy: policy.name, skipped });
  }

  /** Why the policy did not apply. */
  private judgePolicy(policy: PreparedPolicy): string | undefined {
    const matched = this.match(policy);
    if (matched === undefined) return undefined;
    if (typeof matched === "string") return matched;

    const namespaced = this.paramScope(policy);
    if (namespaced === undefined) return undefined;
    const asked = new PolicyQuestion(policy, matched, namespaced);
    const skips: string[] = [];
    for (const binding of policy.bindings) {
      const skip = this.judgeBinding(asked, binding);
      if (this.ended) return undefined;
      if (skip !== undefined) skips.push(skip);
    }
    this.publish(asked);
    if (policy.bindings.length === 0) return "no binding names the policy";
    return skips.length === policy.bindings.length ? skips[0] : undefined;
  }

  /** What the policy matches the request as; a reason why it does not; `undefined` when that failed. */
  private match(policy: PreparedPolicy): Matched | string | undefined {
    const { kind, resource } = this.request;
    if (this.options.targeted) return { outcome: "match", kind, resource };
    if (policy.match === undefined) {
      this.misconfigured(policy, undefined, "policy contained no match constraints, a required field");
      return undefined;
    }
    const result = matchRequest(policy.match, this.request, this.options.source);
    if (result instanceof Pending) this.run.awaited.push(result.ready);
    else if (result.outcome === "match") return result;
    else if (result.outcome === "no") return result.reason;
    else this.misconfigured(policy, undefined, result.message);
    return undefined;
  }

  /** Whether the policy's parameters live in namespaces; `undefined` when nobody knows their kind. */
  private paramScope(policy: PreparedPolicy): boolean | undefined {
    if (policy.paramKind === undefined) return false;
    const { kind } = policy.paramKind;
    const namespaced = this.options.source.namespaced(kind);
    if (namespaced instanceof Pending) {
      this.run.awaited.push(namespaced.ready);
      return undefined;
    }
    if (typeof namespaced === "boolean") return namespaced;
    const text = `failed to find resource referenced by paramKind: '${kind.group}/${kind.version}, Kind=${kind.kind}'`;
    this.misconfigured(policy, undefined, namespaced instanceof LookupFailure ? namespaced.message : text);
    return undefined;
  }

  /** Why the binding did not apply. */
  private judgeBinding(asked: PolicyQuestion, binding: PreparedBinding): string | undefined {
    const { policy, matched } = asked;
    const { source, targeted } = this.options;
    if (binding.match !== undefined && !targeted) {
      const result = matchRequest(binding.match, this.request, source);
      if (result instanceof Pending) {
        this.run.awaited.push(result.ready);
        return undefined;
      }
      if (result.outcome === "no") return `no binding matches: ${result.reason}`;
      if (result.outcome === "error") return this.misconfigured(policy, binding, result.message);
    }
    const params = collectParams(
      policy.paramKind,
      binding.paramRef,
      this.request.namespace,
      asked.namespacedParams,
      source,
    );
    if (params instanceof Pending) {
      this.run.awaited.push(params.ready);
      return undefined;
    }
    if ("error" in params) return this.misconfigured(policy, binding, params.error);
    const input = params.objects.length === 0 ? undefined : this.input(matched);
    if (input instanceof LookupFailure) {
      return this.misconfigured(policy, binding, `failed to convert object version: ${input.message}`);
    }
    const namespace = this.namespace();
    if (namespace === undefined) return undefined;
    if (input === undefined) return "there is no parameter to judge with";

    let skipped: string | undefined;
    let applies = false;
    for (const object of params.objects) {
      if (this.run.expired()) return undefined;
      const evaluation = asked.evaluate(object, () => ({
        run: this.run,
        input,
        params: policy.paramKind && paramValue(object, policy.paramKind),
        namespace,
        ...this.authorization,
      }));
      if (evaluation.skipped === undefined) applies = true;
      else skipped = evaluation.skipped;
      this.apply(asked, binding, evaluation);
    }
    return applies ? undefined : skipped;
  }

  private input(matched: Matched): VersionedInput | LookupFailure {
    const { kind, resource } = matched;
    const original = kind === this.request.kind && resource === this.request.resource;
    if (original && this.original !== undefined) return this.original;
    const key = `${apiVersionOf(kind)} ${kind.kind} ${apiVersionOf(resource)} ${resource.resource}`;
    let input = this.inputs.get(key);
    if (input === undefined) {
      const oldObject = this.convert(this.request.oldObject, kind);
      if (oldObject instanceof LookupFailure) return oldObject;
      const object = this.convert(this.request.object, kind);
      if (object instanceof LookupFailure) return object;
      input = versionedInput(this.request, matched, { object, oldObject });
      this.inputs.set(key, input);
    }
    if (original) this.original = input;
    return input;
  }

  private convert(object: unknown, kind: GroupVersionKind): unknown {
    return this.options.targeted || !isObject(object) ? object : this.options.source.convert(object, kind);
  }

  /** The request's Namespace: none for cluster-scoped requests and for Namespaces themselves. Its absence ends the whole request. */
  private namespace(): NamespaceViews | undefined {
    this.namespaceFound ??= this.findNamespace();
    return this.namespaceFound;
  }

  private findNamespace(): NamespaceViews | undefined {
    const { kind, namespace: name } = this.request;
    if (name === "" || (kind.group === "" && kind.version === "v1" && kind.kind === "Namespace")) return NO_NAMESPACE;
    const namespace = this.options.source.namespace(name);
    if (namespace instanceof Pending) this.run.awaited.push(namespace.ready);
    else if (namespace === undefined) this.failure = { message: namespaceNotFound(name), notFound: true };
    else if (namespace instanceof LookupFailure) this.failure = { message: namespace.message, notFound: false };
    else return namespaceViews(namespace);
    return undefined;
  }

  /** A failure before any expression ran: it denies, whatever the binding's actions are, unless failures are ignored. */
  private misconfigured(policy: PreparedPolicy, binding: PreparedBinding | undefined, message: string): undefined {
    const { failurePolicy, name, title } = policy;
    if (failurePolicy === "Ignore") return undefined;
    const text =
      failurePolicy === "Fail"
        ? `failed to configure ${binding === undefined ? "policy" : "binding"}: ${message}`
        : `unrecognized failure policy: '${failurePolicy}'`;
    this.denials.push({
      title,
      policy: name,
      binding: binding?.name,
      text,
      reason: undefined,
      index: undefined,
      kind: "configuration",
    });
    return undefined;
  }

  private apply(asked: PolicyQuestion, binding: PreparedBinding, evaluation: PolicyEvaluation): void {
    const { policy } = asked;
    for (const { index, message, reason, error } of evaluation.decisions) {
      for (const action of binding.actions) {
        if (action === "Deny") {
          this.deny(policy, binding, message, reason, index, error ? "expression" : "violation");
        } else if (action === "Warn") {
          const by = binding.name === undefined ? "" : ` with binding '${binding.name}'`;
          this.warnings.push(policy.title === "" ? message : `Validation failed for ${policy.title}${by}: ${message}`);
        } else if (action === "Audit") {
          this.failures.push({
            message,
            policy: binding.policyName,
            binding: binding.name ?? "",
            expressionIndex: index,
            validationActions: binding.actions,
          });
        }
      }
    }
    for (const { key, value, error } of evaluation.annotations) {
      if (value !== undefined) asked.collect(key, cutBytes(value, ANNOTATION_MAX_BYTES));
      else this.deny(policy, binding, error ?? "", undefined, undefined, "expression");
    }
  }

  private deny(
    { title, name }: PreparedPolicy,
    binding: PreparedBinding,
    text: string,
    reason: string | undefined,
    index: number | undefined,
    kind: Denial["kind"],
  ): void {
    this.denials.push({ title, policy: name, binding: binding.name, text, reason, index, kind });
  }

  private publish({ policy, collected }: PolicyQuestion): void {
    for (const [key, values] of collected) {
      this.annotations.push({ policy: policy.name, key, value: [...values].join(", ") });
    }
  }
}

/** One policy being asked about one request (disposable). */
class PolicyQuestion {
  /** The values of each annotation, repeated ones once, in order. */
  readonly collected = new Map<string, Set<string>>();
  /** Bindings only choose parameters and actions: one evaluation per parameter serves them all. */
  private readonly evaluations = new Map<unknown, PolicyEvaluation>();

  constructor(
    readonly policy: PreparedPolicy,
    readonly matched: Matched,
    readonly namespacedParams: boolean,
  ) {}

  evaluate(param: unknown, inputs: () => EvaluationInputs): PolicyEvaluation {
    let evaluation = this.evaluations.get(param);
    if (evaluation === undefined) {
      evaluation = evaluatePolicy(this.policy, inputs());
      this.evaluations.set(param, evaluation);
    }
    return evaluation;
  }

  collect(key: string, value: string): void {
    const values = this.collected.get(key);
    if (values === undefined) this.collected.set(key, new Set([value]));
    else values.add(value);
  }
}

/** The longest start of a text that fits, cut between characters. */
function cutBytes(text: string, limit: number): string {
  if (Buffer.byteLength(text) <= limit) return text;
  const bytes = Buffer.from(text);
  let end = limit;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end).toString();
}
