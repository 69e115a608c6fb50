import { Waiting } from "../../cel/index.js";
import { structOf } from "../../kubernetes/go-types/as-struct.js";
import { isObject } from "../../kubernetes/object.js";
import type { VersionSchemas } from "../../kubernetes/structured-merge/merge-schemas.js";
import type { Failure } from "../../policy/outcome.js";
import { LookupFailure } from "../../world/resources/resource-source.js";
import { bindingsOf, type EvaluationInputs } from "../admission-policy/evaluation-inputs.js";
import { evaluateConditions } from "../admission-policy/match-conditions.js";
import { mutationParamValue } from "../admission-policy/params.js";
import { RequestInputs } from "../admission-policy/request-inputs.js";
import type { NamespaceViews } from "../shared/expressions/input.js";
import type { CompiledMutation } from "../shared/mutation/compile-mutation.js";
import { mutationOf, valueOfMutation } from "../shared/mutation/evaluate-mutation.js";
import { printedKind } from "../shared/mutation/merge-types.js";
import { apply, internalError, type Patched, patchedBy } from "../shared/mutation/mutate.js";
import { pauses } from "../shared/mutation/mutation-steps.js";
import { type MutatingDecision, unavailable } from "./decision.js";
import type { Dispatch } from "./dispatch.js";
import { type Invocation, keyOf, type PolicyError } from "./invocation.js";
import type { Reinvocation } from "./reinvocation.js";
import { selectInvocations } from "./select-invocations.js";
import { type VersionedObject, VersionedObjects } from "./versioned-objects.js";

/** One pass over all policies (disposable; spec mutating-admission-policy.md 2). */
export class Pass {
  readonly #dispatch: Dispatch;
  readonly #reinvocation: Reinvocation;
  readonly #versions: VersionedObjects;
  readonly #inputs: RequestInputs;
  readonly #errors: PolicyError[] = [];
  readonly #reinvoked: string[] = [];
  /** The version of the last invocation that got to its mutations: changes of others in other versions are lost. */
  #last: VersionedObject | undefined;
  #failure: Failure | undefined;

  constructor(dispatch: Dispatch, reinvocation: Reinvocation) {
    const { request, attempt, targeted, typed, state } = dispatch;
    this.#dispatch = dispatch;
    this.#reinvocation = reinvocation;
    this.#versions = new VersionedObjects(request, state.conversions, targeted, typed && !targeted);
    this.#inputs = new RequestInputs(request, attempt.world, targeted);
  }

  /** The result of the pass; or {@link Waiting}, and it is repeated. */
  run(): MutatingDecision | Waiting {
    const { policies, request, selecting = request, attempt, targeted, watcher } = this.#dispatch;
    const { conversions } = this.#dispatch.state;
    const { made } = conversions;
    const selected = selectInvocations(policies, selecting, this.#versions, attempt, targeted, watcher);
    if (selected.waiting || (conversions.made > made && pauses(attempt))) return Waiting.INSTANCE;
    this.#errors.push(...selected.errors);
    const { invocations } = selected;
    if (invocations.length > 0) {
      const namespace = this.#inputs.namespace();
      if (namespace instanceof Waiting) return Waiting.INSTANCE;
      if ("verdict" in namespace) this.#failure = namespace;
      else if (this.#invokeAll(invocations, namespace) instanceof Waiting) return Waiting.INSTANCE;
    }
    const object = this.#failure === undefined ? this.#written() : undefined;
    return {
      object,
      refusals: this.#errors.filter(({ policy }) => policy.failurePolicy !== "Ignore"),
      reinvoked: this.#reinvoked,
      skipped: invocations.length + selected.errors.length > 0 ? undefined : (selected.skipped ?? "there is no policy"),
      failure: this.#failure,
    };
  }

  /** The object after the pass. */
  #written(): unknown {
    const { object } = this.#dispatch.request;
    const last = this.#last;
    if (last === undefined || !last.dirty) return object;
    this.#reinvocation.changed();
    // A change of form by the struct does not count as a change.
    if (last.typed && !this.#dispatch.state.differs(last.original, last.object)) return object;
    const written = this.#versions.asRequested(last);
    if (!(written instanceof LookupFailure)) return written;
    this.#failure = internalError(`failed to convert object: ${written.message}`);
    return undefined;
  }

  #invokeAll(invocations: readonly Invocation[], namespace: NamespaceViews): Waiting | undefined {
    const { attempt } = this.#dispatch;
    for (const invocation of invocations) {
      if (attempt.expired() || attempt.over()) return Waiting.INSTANCE;
      if (this.#invoke(invocation, namespace) instanceof Waiting) return Waiting.INSTANCE;
      if (this.#failure !== undefined) return undefined;
    }
    return undefined;
  }

  #invoke(invocation: Invocation, namespace: NamespaceViews): Waiting | undefined {
    const { policy, matched } = invocation;
    if (policy.mutations.length !== policy.written) {
      this.#failure = internalError(
        `expected ${policy.written} compiled evaluators for policy ${policy.name}, got ${policy.mutations.length}`,
      );
      return undefined;
    }
    const versioned = this.#versions.of(matched.kind);
    // Selecting has checked that there is one.
    if (versioned instanceof LookupFailure) return undefined;
    if (policy.conditions.length > 0) {
      const met = this.#meets(invocation, versioned, namespace);
      if (met instanceof Waiting) return met;
      if (!met) return undefined;
    }
    const key = keyOf(invocation);
    if (!this.#reinvocation.asks(key)) return undefined;
    const before = versioned.object;
    for (const mutation of policy.mutations) {
      this.#last = versioned;
      if (versioned.object === null) continue;
      if (this.#mutate(invocation, mutation, versioned, namespace) instanceof Waiting) return Waiting.INSTANCE;
      if (this.#failure !== undefined) return undefined;
    }
    // If there is a single version, its last state is read at the end.
    const { state } = this.#dispatch;
    if (this.#versions.count > 1 && state.differs(before, versioned.object)) this.#reinvocation.changed();
    if (policy.reinvocable) this.#reinvocation.invoked(key);
    return undefined;
  }

  #meets(invocation: Invocation, versioned: VersionedObject, namespace: NamespaceViews): boolean | Waiting {
    const { policy } = invocation;
    versioned.look("conditions");
    const conditions = evaluateConditions(policy, this.#inputsOf(invocation, versioned, namespace));
    switch (conditions.outcome) {
      case "met":
        return true;
      case "waiting":
        return Waiting.INSTANCE;
      case "unmet":
        this.#dispatch.watcher?.found?.(policy, `does not apply: ${conditions.reason}`);
        return false;
      case "failed":
        if (policy.failurePolicy === "Fail") this.#failed(invocation, conditions.message);
        return policy.failurePolicy !== "Fail" && policy.failurePolicy !== "Ignore";
    }
  }

  #mutate(
    invocation: Invocation,
    mutation: CompiledMutation,
    versioned: VersionedObject,
    namespace: NamespaceViews,
  ): Waiting | undefined {
    const { attempt, state } = this.#dispatch;
    const { policy } = invocation;
    if (this.#reinvocation.second && !this.#reinvoked.includes(policy.name)) this.#reinvoked.push(policy.name);
    const { object } = versioned;
    const types = this.#typesOf(versioned);
    if (types instanceof Waiting) return types;
    if (types === undefined) return undefined;
    if (!isObject(object)) {
      this.#failed(invocation, "the object to be mutated is not an object");
      return undefined;
    }
    const inputs = this.#inputsOf(invocation, versioned, namespace);
    const [request, namespaceObject] = [state.asSeen(inputs.input.request), state.asSeen(namespace.reduced)];
    const bindings = bindingsOf(inputs, request, namespaceObject, true);
    const value = valueOfMutation(mutation, { attempt, bindings, about: inputs.param, variables: policy.variables });
    if (value instanceof Waiting) return value;
    versioned.look("mutation");
    const { paramKind } = policy;
    const seen = { ...versioned.types, params: paramKind && structOf(paramKind.apiVersion, paramKind.kind.kind) };
    const { memory } = state.conversions;
    const taken = state.take(object, value, attempt, {
      ask: () => mutationOf(mutation.patchType, value, bindings, seen, mutation.behaviour),
      apply: (asked) => apply(asked, object, types, versioned, memory),
      patch: (applied) => patchedBy(applied, object, versioned, memory),
    });
    if (taken === undefined) return Waiting.INSTANCE;
    const [patched, pausing] = taken;
    this.#take(invocation, versioned, patched);
    return pausing ? Waiting.INSTANCE : undefined;
  }

  /** The types to merge with; `undefined` when there are none, and the request fails. */
  #typesOf({ kind }: VersionedObject): VersionSchemas | undefined | Waiting {
    const types = this.#dispatch.findTypes(kind.group, kind.version, this.#dispatch.attempt.world);
    if (types !== undefined && !(types instanceof LookupFailure)) return types;
    this.#failure = unavailable(printedKind(kind));
    return undefined;
  }

  #take(invocation: Invocation, versioned: VersionedObject, patched: Patched): void {
    if ("object" in patched) versioned.update(patched.object);
    else if ("failure" in patched) this.#failed(invocation, patched.failure);
    else this.#failure = patched;
  }

  #inputsOf(
    { policy, param, matched }: Invocation,
    versioned: VersionedObject,
    namespace: NamespaceViews,
  ): EvaluationInputs {
    return {
      attempt: this.#dispatch.attempt,
      input: versioned.input(matched.resource, this.#dispatch.request.resource),
      param,
      params: policy.paramKind && mutationParamValue(param, policy.paramKind),
      namespace,
      authorization: this.#inputs,
    };
  }

  #failed({ policy, binding }: Invocation, message: string): void {
    this.#dispatch.watcher?.found?.(policy, `failed: ${message}`);
    this.#errors.push({ policy, binding, message, kind: "evaluation" });
  }
}
