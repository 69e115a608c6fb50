/** Compiles policies, their variants for pod controllers, and the exceptions that name them (spec kyverno.md 1.4 and 3). */
import { DYN, namesVariable } from "../../cel/index.js";
import { type FieldError, type FieldPath, invalid, tooMany } from "../../kubernetes/field-error.js";
import type { Expression } from "../shared/expressions/expression.js";
import type { ExpressionCompiler } from "../shared/expressions/expression-compiler.js";
import { GrowingScope } from "../shared/expressions/growing-scope.js";
import type { ResultType } from "../shared/expressions/result-type.js";
import { type PreparedMatch, prepareMatch } from "../shared/match/match-resources.js";
import { compileMutation } from "../shared/mutation/compile-mutation.js";
import { autogenOf } from "./autogen/autogen.js";
import type {
  CompiledException,
  CompiledPolicy,
  CompiledValidation,
  CompiledVariant,
  PolicyMutation,
  Target,
  VariantName,
} from "./compiled-policy.js";
import { CONDITION_SCOPE, type Compilers, PAYLOAD_SCOPE, SCOPE_WORDS } from "./dialect.js";
import { expiryOf, isUnreadable } from "./expiry.js";
import { undeclaredNames } from "./image-validating/check-images.js";
import { type CompileAt, compileAttestors, compileImages } from "./image-validating/compile-images.js";
import { originOf } from "./old-rule-origin.js";
import {
  type ExceptionResource,
  isConfined,
  isImageValidating,
  isMutating,
  type PolicyResource,
  type PolicySpec,
} from "./resource.js";

type Expressions = Pick<
  CompiledVariant,
  "conditions" | "variables" | "validations" | "annotations" | "mutations" | "exceptions" | "images"
>;

const NOTHING: Expressions = {
  conditions: [],
  variables: new Map(),
  validations: [],
  annotations: [],
  mutations: [],
  exceptions: [],
  images: undefined,
};

/** Whether an expression of a policy, or of an exception from it, names the variable. */
export const namesIn = (variant: Expressions, name: string): boolean =>
  expressionsOf(variant).some(
    (expression) => expression?.program && namesVariable(expression.program.references, name),
  );

/** Whether a policy has apply configurations, which need the types of what they are merged into. */
export const mergesObjects = (variants: readonly Pick<CompiledVariant, "mutations">[]): boolean =>
  variants.some(({ mutations }) => mutations.some(({ patchType }) => patchType === "ApplyConfiguration"));

function expressionsOf(variant: Expressions): readonly (Expression | undefined)[] {
  const { conditions, variables, validations, annotations, mutations, exceptions, images } = variant;
  return [
    ...conditions,
    ...variables.values(),
    ...validations.flatMap(({ expression, messageExpression }) => [expression, messageExpression]),
    ...annotations.map(({ expression }) => expression),
    ...mutations.flatMap(({ expressions }) => expressions),
    ...exceptions.flatMap((exception) => exception.conditions),
    ...(images?.extractors.values() ?? []),
    ...(images?.attestors.flatMap(({ expressions }) => expressions) ?? []),
  ];
}

/** Most variables of a policy: real ones have some ten, and types that contain those of all before them make loading take long. */
export const MOST_VARIABLES = 1_000;

/** A mistake of an expression, and its owner. */
export interface CompileError extends FieldError {
  /** The exception whose condition it is; undefined for the policy's own expressions. */
  readonly exception: ExceptionResource | undefined;
  readonly variant: VariantName;
}

/**
 * A compiled policy, or every mistake that ended the compiling: a list of expressions with mistakes ends it (spec kyverno.md 1.4). The rule of an old policy with
 * mistakes is a policy that only matches.
 */
export type CompileResult =
  | { readonly ok: true; readonly policy: CompiledPolicy; readonly mistakes?: readonly FieldError[] }
  | { readonly ok: false; readonly errors: readonly CompileError[] };

/** The exceptions that name a policy, one for each reference. */
export const exceptionsFor = (
  { kind, metadata }: PolicyResource,
  exceptions: readonly ExceptionResource[],
): readonly ExceptionResource[] =>
  exceptions.flatMap((exception) =>
    (exception.spec.policyRefs ?? [])
      .filter((ref) => ref.name === metadata.name && ref.kind === kind)
      .map(() => exception),
  );

/**
 * Compiles a policy with its variants.
 * @param exceptions the exceptions that name the policy
 */
export function compilePolicy(
  resource: PolicyResource,
  exceptions: readonly ExceptionResource[],
  compilers: Compilers,
): CompileResult {
  const { validationActions = [], failurePolicy } = resource.spec;
  const mutating = isMutating(resource);
  const variants: CompiledVariant[] = [];
  const all = [{ name: "" as const, targets: [], spec: resource.spec }, ...autogenOf(resource.spec, mutating)];
  for (const { name, targets, spec } of all) {
    const compiling = new Compiling({ resource, name, targets, spec, exceptions }, compilers);
    const variant = compiling.run();
    if (variant === undefined) {
      const { errors } = compiling;
      const isRule = resource.converted !== undefined && errors.every(({ exception }) => exception === undefined);
      return isRule ? brokenRule(resource, errors, compilers) : { ok: false, errors };
    }
    variants.push(variant);
  }
  const actions = mutating || validationActions.length === 0 ? ["Deny"] : validationActions;
  const effective = mutating && failurePolicy === "Ignore" ? [] : actions;
  return { ok: true, policy: { resource, origin: originOf(resource), actions: effective, variants } };
}

/** The rule of an old policy that has mistakes: what it matches is an error. */
export function brokenRule(
  { spec, ...rest }: PolicyResource,
  mistakes: readonly FieldError[],
  compilers: Compilers,
): CompileResult {
  const [first] = mistakes;
  const { matchConditions, ...left } = { ...spec, variables: [], validations: [], mutations: [], auditAnnotations: [] };
  const keeps = matchConditions !== undefined && mistakes.every(({ path }) => path[1] !== "matchConditions");
  const resource: PolicyResource = {
    ...rest,
    spec: keeps ? { ...left, matchConditions } : left,
    converted: { ...rest.converted, reason: first?.text.split("\n")[0] ?? "" },
  };
  const compiled = compilePolicy(resource, [], compilers);
  return compiled.ok ? { ...compiled, mistakes } : compiled;
}

/** The mistakes of the policy as it is written, for which its creation is refused: variants and exceptions are not checked. */
export function compileMistakes(resource: PolicyResource, compilers: Compilers): readonly CompileError[] {
  const source: Source = { resource, name: "", targets: [], spec: resource.spec, exceptions: [] };
  const compiling = new Compiling(source, compilers);
  compiling.run();
  return compiling.errors;
}

/** The inputs of the compiler. */
interface Source {
  readonly resource: PolicyResource;
  readonly name: VariantName;
  readonly targets: readonly Target[];
  readonly spec: PolicySpec;
  readonly exceptions: readonly ExceptionResource[];
}

/**
 * Every mistake of the policy's own expressions: those that end the compiling, and later ones, which are found only here.
 * @param exceptions the exceptions that name the policy
 */
export function allMistakes(
  resource: PolicyResource,
  exceptions: readonly ExceptionResource[],
  compilers: Compilers,
): readonly CompileError[] {
  const compiling = new Compiling(
    { resource, name: "", targets: [], spec: resource.spec, exceptions },
    compilers,
    true,
  );
  compiling.run();
  return compiling.errors;
}

/** Parts of a policy in the order in which Kyverno compiles them: what is named later sees the variables. */
const VALIDATING_PARTS = ["conditions", "variables", "validations", "annotations", "exceptions"] as const;
const MUTATING_PARTS = ["variables", "conditions", "exceptions", "annotations", "mutations"] as const;
const IMAGE_PARTS = ["conditions", "images", "variables", "attestors", ...VALIDATING_PARTS.slice(2)] as const;

/** Stands for an expression whose mistake is noted. */
const MISTAKEN: Expression = {
  source: "",
  program: undefined,
  error: "",
  internal: false,
  type: DYN,
  shared: false,
};

/** The compiling of one variant. */
class Compiling {
  readonly errors: CompileError[] = [];
  readonly #source: Source;
  readonly #compiler: ExpressionCompiler;
  /** Compiles `matchImageReferences`. */
  readonly #references: ExpressionCompiler;
  readonly #undeclared: FieldError[] = [];
  readonly #verifying: boolean;
  readonly #mode: CompiledVariant["mode"];
  readonly #scope = new GrowingScope(SCOPE_WORDS);
  #exception: ExceptionResource | undefined;

  /** Whether compiling continues after mistakes, to find all of them. */
  readonly #all: boolean;

  constructor(source: Source, compilers: Compilers, all = false) {
    this.#all = all;
    this.#source = source;
    const { resource, spec } = source;
    this.#mode = !isMutating(resource) && spec.evaluation?.mode === "JSON" ? "JSON" : "Kubernetes";
    this.#verifying = isImageValidating(resource);
    const judging = this.#verifying ? compilers.images : compilers;
    const { clustered, namespaced } = isMutating(resource) ? compilers.mutating : judging;
    this.#references = compilers.images.references;
    this.#compiler = isConfined(source.resource) ? namespaced : clustered;
  }

  get #ended(): boolean {
    return !this.#all && this.errors.length > 0;
  }

  /** The variant; `undefined` when there are errors. */
  run(): CompiledVariant | undefined {
    const { resource, name, targets, spec } = this.#source;
    const mutating = isMutating(resource);
    const mode = this.#mode;
    let expressions = NOTHING;
    const compile: CompileAt = (...args) => (this.#ended ? undefined : this.#compile(...args));
    const references: CompileAt = (...args) => this.#compile(...args, this.#references);
    const refused = (error: FieldError) => this.errors.push({ ...error, exception: undefined, variant: name });
    const take: Readonly<Record<keyof Expressions | "attestors", () => Partial<Expressions>>> = {
      conditions: () => ({ conditions: this.#conditions(spec.matchConditions) }),
      variables: () => ({ variables: this.#variables() }),
      validations: () => ({ validations: this.#validations() }),
      annotations: () => (mode === "JSON" && !this.#verifying ? {} : { annotations: this.#annotations() }),
      mutations: () => ({ mutations: this.#mutations() }),
      exceptions: () => ({ exceptions: this.#exceptions() }),
      images: () => ({ images: compileImages(spec, { compile, references, refused }) }),
      attestors: () => {
        const attestors = compileAttestors(spec, compile);
        return { images: expressions.images && { ...expressions.images, attestors } };
      },
    };
    for (const part of mutating ? MUTATING_PARTS : this.#verifying ? IMAGE_PARTS : VALIDATING_PARTS) {
      expressions = { ...expressions, ...take[part]() };
      if (this.#ended) return undefined;
    }
    const { images } = expressions;
    const parts = {
      name,
      targets,
      policy: resource,
      spec,
      mode,
      failurePolicy: spec.failurePolicy === "Ignore" ? "Ignore" : "Fail",
      match: matchOf(spec),
      ...expressions,
      images: images && { ...images, undeclared: this.#undeclared },
    } as const;
    return { ...parts, namesNamespace: namesIn(parts, "namespaceObject") };
  }

  #exceptions(): readonly CompiledException[] {
    const exceptions: CompiledException[] = [];
    for (const exception of this.#source.exceptions) {
      this.#exception = exception;
      const expiry = expiryOf(exception);
      exceptions.push({
        resource: exception,
        conditions: this.#conditions(exception.spec.matchConditions),
        // Of documents with a schema such an error is reported before.
        expires: isUnreadable(expiry) ? Number.NEGATIVE_INFINITY : expiry.at,
      });
      if (this.#ended) break;
    }
    this.#exception = undefined;
    return exceptions;
  }

  /** The mutations; the first one with a mistake ends the list. One without the member of its type has no effect. */
  #mutations(): readonly PolicyMutation[] {
    const compiled: PolicyMutation[] = [];
    for (const [i, mutation] of (this.#source.spec.mutations ?? []).entries()) {
      const { dialect } = this.#compiler;
      const member = mutation.patchType === "JSONPatch" ? "jsonPatch" : "applyConfiguration";
      const compile = (source: string, wanted: ResultType): Expression =>
        this.#compile(["spec", "mutations", i, member, "expression"], source, wanted) ?? MISTAKEN;
      const made = compileMutation(mutation, { dialect, compile }, this.#scope);
      if (this.#ended) break;
      if (made !== undefined && made.expressions[0] !== MISTAKEN) compiled.push({ ...made, at: i });
    }
    return compiled;
  }

  #conditions(conditions: PolicySpec["matchConditions"] = []): Expression[] {
    return conditions.flatMap(
      ({ expression }, i) => this.#compile(["spec", "matchConditions", i, "expression"], expression, "bool") ?? [],
    );
  }

  /** The variables. One that failed is not declared, so that expressions that refer to it fail, too. Of two with the same name the later one counts. */
  #variables(): ReadonlyMap<string, Expression> {
    const compiled = new Map<string, Expression>();
    const { variables = [] } = this.#source.spec;
    if (variables.length > MOST_VARIABLES) {
      const error = tooMany(["spec", "variables"], variables.length, MOST_VARIABLES);
      this.errors.push({ ...error, exception: undefined, variant: this.#source.name });
    }
    for (const [i, { name = "", expression }] of variables.slice(0, MOST_VARIABLES).entries()) {
      const variable = this.#compile(["spec", "variables", i, "expression"], expression, "any");
      // When all mistakes are wanted, a variable's mistake is not repeated wherever it is named.
      if (variable === undefined && this.#all) this.#scope.declare(name, DYN);
      if (variable === undefined) continue;
      this.#scope.declare(name, variable.type);
      compiled.set(name, variable);
    }
    return compiled;
  }

  /** The validations; the first one with a mistake ends the list. */
  #validations(): readonly CompiledValidation[] {
    const compiled: CompiledValidation[] = [];
    for (const [i, { expression, message = "", messageExpression = "" }] of (
      this.#source.spec.validations ?? []
    ).entries()) {
      const path: FieldPath = ["spec", "validations", i];
      const validation = this.#compile([...path, "expression"], expression, "bool");
      if (validation === undefined && !this.#all) return compiled;
      const words =
        messageExpression === ""
          ? undefined
          : this.#compile([...path, "messageExpression"], messageExpression, "string");
      if (this.#ended) return compiled;
      if (validation !== undefined) compiled.push({ expression: validation, message, messageExpression: words });
    }
    return compiled;
  }

  /** The annotations; of two with the same key the later one counts, at the place of the first. */
  #annotations(): CompiledVariant["annotations"] {
    const compiled = new Map<string, Expression>();
    for (const [i, { key = "", valueExpression }] of (this.#source.spec.auditAnnotations ?? []).entries()) {
      const path: FieldPath = ["spec", "auditAnnotations", i, "valueExpression"];
      const value = this.#compile(path, valueExpression, "string-or-null");
      if (value !== undefined) compiled.set(key, value);
    }
    return [...compiled].map(([key, expression]) => ({ key, expression }));
  }

  #compile(
    path: FieldPath,
    source = "",
    wanted: ResultType = "any",
    compiler: ExpressionCompiler = this.#compiler,
  ): Expression | undefined {
    const growing = this.#scope.variables.size === 0 ? CONDITION_SCOPE : this.#scope;
    const scope = this.#verifying && this.#mode === "JSON" ? PAYLOAD_SCOPE : growing;
    const expression = compiler.compile(source, wanted, scope);
    if (this.#verifying) this.#undeclared.push(...undeclaredNames(this.#source.spec, path, expression));
    if (expression.error === undefined) return expression;
    const { name } = this.#source;
    const mistake = {
      ...invalid(path, source, expression.error),
      hint: expression.hint,
      mistakes: expression.mistakes,
      code: "CEL_EXPRESSION",
    } as const;
    this.errors.push({ ...mistake, exception: this.#exception, variant: name });
    return undefined;
  }
}

/** The prepared constraints: absent selectors match everything, and versions must be named literally (spec kyverno.md 2.2). */
function matchOf({ matchConstraints }: PolicySpec): PreparedMatch | undefined {
  return (
    matchConstraints &&
    prepareMatch({ namespaceSelector: {}, objectSelector: {}, ...matchConstraints, matchPolicy: "Exact" })
  );
}
