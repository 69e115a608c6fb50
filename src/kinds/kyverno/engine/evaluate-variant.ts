/** Evaluates one policy, or a variant of it, for one object: exceptions, conditions, validations, annotations (spec kyverno.md 2.1, 2.4, 2.5, 5.3 and 9). */
import { type Bindings, CelError, type Result, typeNameOf, type Value, Waiting } from "../../../cel/index.js";
import { isObject, type JsonObject } from "../../../kubernetes/object.js";
import type { Attempt } from "../../shared/expressions/attempt.js";
import type { Expression, ExpressionProgram } from "../../shared/expressions/expression.js";
import type { GroupProgress } from "../../shared/expressions/progress.js";
import { VariablesValue } from "../../shared/expressions/variables.js";
import type { CompiledException, CompiledVariant } from "../compiled-policy.js";
import { externalBindings } from "../external/index.js";
import type { CompiledImages } from "../image-validating/compiled-images.js";
import { findImages, pinTags } from "../image-validating/evaluate-images.js";
import { PolicyImages } from "../image-validating/policy-images.js";
import { libraryBindings } from "../libraries/index.js";
import { type ExceptionResource, isMutating } from "../resource.js";
import type { Evaluated, EvaluationData, Failed } from "./evaluated.js";

const SKIP: Evaluated = { kind: "skip" };
const NO_ANNOTATIONS: Readonly<Record<string, string>> = {};
const NO_IMAGES: Bindings = {};

/** The allowances of exceptions that don't exempt from the whole policy. */
interface Allowances {
  readonly kind: "allowances";
  /** The value of `exceptions`. */
  readonly value: Value;
}

const NONE: Allowances = { kind: "allowances", value: { allowedImages: [], allowedValues: [] } };

/** Evaluates; {@link Waiting} while an answer has not arrived, others must have their turn, or time is up. */
export function evaluateVariant(variant: CompiledVariant, data: EvaluationData, attempt: Attempt): Evaluated | Waiting {
  const expressions = variant.conditions;
  const { about } = data;
  const progress =
    attempt.known(expressions, about) ??
    attempt.begin({
      expressions,
      about,
      results: [],
      variables: variant.variables.size > 0 ? new VariablesValue(variant.variables, attempt.dialect) : undefined,
      owed: 0,
      remaining: Number.POSITIVE_INFINITY,
      failed: undefined,
    });
  const result = new Evaluation(variant, data, attempt, progress).run();
  // An evaluation that waits for an answer begins anew with it; a mere pause is resumed.
  if (attempt.world.questions.asking) attempt.forget(progress);
  return result;
}

/** One evaluation (disposable). */
class Evaluation {
  readonly #variant: CompiledVariant;
  #data: EvaluationData;
  readonly #attempt: Attempt;
  readonly #progress: GroupProgress;
  #bindings: Bindings = {};
  /** Number of expressions evaluated so far, in this attempt or an earlier one. */
  #step = 0;
  /** The index of the condition that is false. */
  #unmet = 0;

  constructor(variant: CompiledVariant, data: EvaluationData, attempt: Attempt, progress: GroupProgress) {
    this.#variant = variant;
    this.#data = data;
    this.#attempt = attempt;
    this.#progress = progress;
  }

  run(): Evaluated | Waiting {
    const { exceptions, images } = this.#variant;
    if (images !== undefined) return this.#runImages(images);
    const exempted = exceptions.length === 0 ? NONE : this.#exemption(exceptions);
    if (exempted instanceof Waiting || exempted.kind !== "allowances") return exempted;
    this.#bindings = this.#bindingsWith(exempted.value);
    const passedOver = this.#passedOver();
    if (passedOver !== undefined) return passedOver;
    const reason = this.#variant.policy.converted?.reason;
    if (reason !== undefined) return { kind: "error", message: `not converted: ${reason}`, index: 0 };
    const objection = this.#objection();
    if (objection !== undefined) return objection;
    const mutated = this.#variant.mutations.length === 0 ? undefined : this.#mutated(exempted.value);
    if (mutated instanceof Waiting || mutated?.kind === "failed") return mutated;
    const passed = this.#passed();
    return passed instanceof Waiting || passed.kind !== "pass" ? passed : { ...passed, ...mutated };
  }

  /** An ImageValidatingPolicy: unlike others it looks at its conditions before its exceptions, of which only full ones count. */
  #runImages(images: CompiledImages): Evaluated | Waiting {
    const { state, pins } = this.#data;
    const calls = new PolicyImages(images, state.evidence, this.#attempt);
    state.images = calls;
    const { conditions, exceptions } = this.#variant;
    if (conditions.length > 0) this.#bindings = this.#bindingsWith(undefined);
    const passedOver = this.#passedOver();
    if (passedOver !== undefined) return passedOver;
    const exempted = exceptions.length === 0 ? NONE : this.#exemption(exceptions);
    if (exempted instanceof Waiting || exempted.kind !== "allowances") return exempted;
    const evaluate = (expression: Expression, bindings?: Bindings) => this.#evaluate(expression, bindings);
    if (pins === true) return pinTags(calls, this.#data.object as JsonObject, evaluate);
    if (images.extractors.size > 0) this.#bindings = this.#bindingsWith(exempted.value);
    const found = findImages(images, calls, this.#data, evaluate);
    if (found instanceof Waiting || found.kind !== "found") return found;
    this.#bindings = this.#bindingsWith(exempted.value, found.bindings);
    calls.bindings = this.#bindings;
    const objection = this.#objection();
    if (objection !== undefined) return objection;
    const passed = this.#passed();
    if (passed instanceof Waiting || passed.kind !== "pass") return passed;
    return { kind: "pass", annotations: passed.annotations, images: calls.matched };
  }

  /** The result when the policy does not apply, or its conditions fail; `undefined`: it applies. */
  #passedOver(): Evaluated | Waiting | undefined {
    const { conditions } = this.#variant;
    if (conditions.length === 0) return undefined;
    const met = this.#met(conditions);
    if (met instanceof Waiting) return met;
    if (met === false) return this.#skip();
    return met === true ? undefined : { kind: "failed", message: met.error };
  }

  /** The result of the first validation that does not hold; `undefined`: all of them do. */
  #objection(): Evaluated | Waiting | undefined {
    const { validations, images } = this.#variant;
    const broken = (message: string, index: number): Evaluated =>
      images === undefined ? { kind: "error", message, index } : { kind: "failed", message };
    for (let index = 0; index < validations.length; index++) {
      const validation = validations[index];
      if (validation === undefined) continue;
      const result = this.#evaluate(validation.expression);
      if (result === true) continue;
      if (result instanceof Waiting) return result;
      if (result instanceof CelError) return broken(result.message, index);
      if (result !== false) return { kind: "error", message: notConverted(result, "bool"), index };
      const message = this.#messageOf(validation, index);
      if (message instanceof Waiting) return message;
      const annotations = this.#annotations();
      if (annotations instanceof Waiting) return annotations;
      if (typeof annotations === "string") return broken(annotations, index);
      return { kind: "fail", message, index, annotations };
    }
    return undefined;
  }

  #passed(): Evaluated | Waiting {
    const annotations = this.#annotations();
    if (annotations instanceof Waiting) return annotations;
    return typeof annotations === "string" ? { kind: "failed", message: annotations } : { kind: "pass", annotations };
  }

  /** The object after all mutations: each sees that of the one before; a variable keeps the value that it had when it was first read. */
  #mutated(exceptions: Value): { readonly kind?: never; readonly object: JsonObject } | Failed | Waiting {
    const { mutations, spec } = this.#variant;
    const { patching } = this.#data;
    let object: unknown = this.#data.object;
    if (!isObject(object)) return { kind: "failed", message: "the object to be mutated is not an object" };
    for (const mutation of mutations) {
      const result = this.#evaluate(mutation.expressions[0]);
      if (result instanceof Waiting) return result;
      if (result instanceof CelError) return { kind: "failed", message: result.message };
      const replaces = spec.evaluation?.useServerSideApply === true;
      const patched = patching?.patch(mutation, result, object as JsonObject, this.#attempt, replaces);
      if (patched instanceof Waiting) return patched;
      if (patched === undefined) continue;
      if ("failure" in patched) return { kind: "failed", message: patched.failure };
      object = patched.object;
      this.#data = { ...this.#data, object: object as Value };
      this.#bindings = this.#bindingsWith(exceptions);
    }
    return { object: object as JsonObject };
  }

  #skip(): Evaluated {
    const condition = this.#variant.spec.matchConditions?.[this.#unmet]?.name;
    return condition === undefined ? SKIP : { kind: "skip", condition };
  }

  #bindingsWith(exceptions: Value | undefined, own: Bindings = NO_IMAGES): Bindings {
    const { object, oldObject, request, namespaceObject } = this.#data;
    const { variables } = this.#progress;
    // Conditions of exceptions see neither `exceptions` nor `variables`.
    const seen = exceptions === undefined ? undefined : variables;
    // One shape for all, written out: spreads cost more than most expressions.
    const bindings: Bindings = {
      object,
      oldObject,
      request,
      namespaceObject,
      exceptions,
      variables: seen,
      resource: externalBindings.resource,
      http: externalBindings.http,
      globalContext: externalBindings.globalContext,
      image: externalBindings.image,
      json: libraryBindings.json,
      yaml: libraryBindings.yaml,
      images: own.images,
      attestors: own.attestors,
      attestations: own.attestations,
    };
    const attempt = this.#attempt;
    seen?.evaluateWith(
      (program: ExpressionProgram) => attempt.evaluatePart(program, bindings).result,
      () => attempt.over(),
    );
    return bindings;
  }

  /** The full exemption if there is one, else the lists of the exceptions that match. */
  #exemption(exceptions: readonly CompiledException[]): Evaluated | Allowances | Waiting {
    const matching: ExceptionResource[] = [];
    const allowedImages: string[] = [];
    const allowedValues: string[] = [];
    let full = false;
    this.#bindings = this.#bindingsWith(undefined);
    for (const { resource, conditions, expires } of exceptions) {
      if (expires < this.#data.now) continue;
      const { images = [], allowedValues: values = [] } = resource.spec;
      const met = this.#met(conditions);
      if (met instanceof Waiting) return met;
      if (typeof met === "object") {
        // A full exemption is final.
        if (full) continue;
        return { kind: "failed", message: met.error };
      }
      if (!met) continue;
      const isFull = images.length === 0 && values.length === 0;
      if (isFull || this.#variant.images === undefined) matching.push(resource);
      if (isFull) full = true;
      else {
        allowedImages.push(...images);
        allowedValues.push(...values);
      }
    }
    return full
      ? { kind: "exempt", exceptions: matching }
      : { kind: "allowances", value: { allowedImages, allowedValues } };
  }

  /** Whether the conditions hold; all are evaluated until one is false, which wins over errors. */
  #met(conditions: readonly Expression[]): boolean | { readonly error: string } | Waiting {
    const errors: string[] = [];
    for (const [index, condition] of conditions.entries()) {
      const result = this.#evaluate(condition);
      if (result instanceof Waiting) return result;
      if (result === false) {
        this.#unmet = index;
        return false;
      }
      if (result instanceof CelError) errors.push(result.message);
      else if (result !== true) errors.push(notConverted(result, "bool"));
    }
    if (errors.length === 0) return true;
    // An error of a mutating policy is an error, which its failurePolicy ignores later.
    const ignored = this.#variant.failurePolicy === "Ignore" && !isMutating(this.#variant.policy);
    return ignored ? false : { error: errors.join("; ") };
  }

  #messageOf({ message, messageExpression }: CompiledVariant["validations"][number], index: number): string | Waiting {
    let text = message;
    if (messageExpression !== undefined) {
      const result = this.#evaluate(messageExpression);
      if (result instanceof Waiting) return result;
      if (result instanceof CelError) text = `failed to evaluate message expression: ${result.message}`;
      else if (typeof result === "string") text = result;
      else text = `failed to convert message expression to string: ${notConverted(result, "string")}`;
    }
    return text === "" ? `CEL expression validation failed at index ${index}` : text;
  }

  /** The annotations; a text is the error of one of them. */
  #annotations(): Readonly<Record<string, string>> | string | Waiting {
    const { annotations } = this.#variant;
    if (annotations.length === 0) return NO_ANNOTATIONS;
    const values: [string, string][] = [];
    for (const { key, expression } of annotations) {
      const result = this.#evaluate(expression);
      if (result instanceof Waiting) return result;
      if (result instanceof CelError) return `failed to evaluate auditAnnotation '${key}': ${result.message}`;
      if (typeof result !== "string")
        return `failed to convert auditAnnotation '${key}' expression: ${notConverted(result, "string")}`;
      if (result !== "") values.push([key, result]);
    }
    return Object.fromEntries(values);
  }

  /** The next expression; its result may be known from an earlier attempt. */
  #evaluate({ program }: Expression, bindings = this.#bindings): Result | Waiting {
    const { results } = this.#progress;
    const known = results[this.#step];
    if (known !== undefined) {
      this.#step += 1;
      return known;
    }
    const attempt = this.#attempt;
    if (program === undefined || attempt.interruption !== undefined || attempt.over()) return Waiting.INSTANCE;
    const { result } = attempt.evaluate(program, bindings);
    if (result instanceof Waiting || attempt.interruption !== undefined) return Waiting.INSTANCE;
    results.push(result);
    this.#step += 1;
    return result;
  }
}

const notConverted = (value: Value, to: string): string =>
  `type conversion error from '${typeNameOf(value)}' to '${to}'`;
