/** Compiles policies for an authorization server (spec kyverno.md 6.3). */
import type { Type } from "../../../cel/index.js";
import { type FieldError, type FieldPath, formatFieldError, invalid } from "../../../kubernetes/field-error.js";
import type { Dialect, Scope } from "../../shared/dialect.js";
import type { Expression } from "../../shared/expressions/expression.js";
import { ExpressionCompiler } from "../../shared/expressions/expression-compiler.js";
import type { ResultType } from "../../shared/expressions/result-type.js";
import type { PolicyResource, PolicySpec } from "../resource.js";
import { authorizationDialect, MODE_WORDS } from "./dialect.js";
import { AUTHORIZATION_MODES, type AuthorizationMode, authorizationMode } from "./mode.js";

/** A compiled policy. */
export interface AuthorizationPolicy {
  readonly resource: PolicyResource;
  readonly mode: AuthorizationMode;
  readonly dialect: Dialect;
  readonly conditions: readonly Expression[];
  readonly variables: ReadonlyMap<string, Expression>;
  /** Expressions whose value is an answer or null. */
  readonly rules: readonly Expression[];
}

/** A policy that does not compile. */
export interface AuthorizationFailure {
  readonly resource: PolicyResource;
  readonly mode: AuthorizationMode;
  /** The message of Kyverno's command. */
  readonly text: string;
}

/** The compiled policies, and the failures. */
export interface PreparedAuthorization {
  readonly policies: readonly AuthorizationPolicy[];
  readonly failures: readonly AuthorizationFailure[];
}

/** Compiles policies, those of one mode after those of the other; resources of other modes are skipped. */
export function prepareAuthorization(resources: readonly PolicyResource[]): PreparedAuthorization {
  const policies: AuthorizationPolicy[] = [];
  const failures: AuthorizationFailure[] = [];
  for (const mode of AUTHORIZATION_MODES) {
    const own = resources.filter((resource) => authorizationMode(resource) === mode);
    if (own.length === 0) continue;
    const compiler = new ExpressionCompiler(authorizationDialect(mode));
    for (const resource of own) {
      const compiled = new Compiling(resource.spec, mode, compiler).run();
      if ("text" in compiled) {
        const what = mode === "HTTP" ? "HTTP" : "envoy";
        const text = `failed to compile ${what} policy ${resource.metadata.name ?? ""}: ${formatFieldError(compiled)}`;
        failures.push({ resource, mode, text });
      } else policies.push({ resource, mode, dialect: compiler.dialect, ...compiled });
    }
  }
  return { policies, failures };
}

type Parts = Pick<AuthorizationPolicy, "conditions" | "variables" | "rules">;

/** The compiling of one policy (disposable): the first mistake ends it. */
class Compiling {
  readonly #spec: PolicySpec;
  readonly #mode: AuthorizationMode;
  readonly #compiler: ExpressionCompiler;
  readonly #types = new Map<string, Type>();
  #error: FieldError | undefined;

  constructor(spec: PolicySpec, mode: AuthorizationMode, compiler: ExpressionCompiler) {
    this.#spec = spec;
    this.#mode = mode;
    this.#compiler = compiler;
  }

  run(): Parts | FieldError {
    const { matchConditions = [], variables = [], validations = [] } = this.#spec;
    const conditions = matchConditions.flatMap(
      ({ expression }, i) => this.#compile(["spec", "matchConditions", i, "expression"], expression, "bool") ?? [],
    );
    const compiled = new Map<string, Expression>();
    for (const [i, { name = "", expression }] of variables.entries()) {
      const variable = this.#compile(["spec", "variables", i, "expression"], expression, "any");
      if (variable === undefined) break;
      this.#types.set(name, variable.type);
      compiled.set(name, variable);
    }
    const rules = validations.flatMap(({ expression }, i) => {
      const path: FieldPath = ["spec", "validations", i, "expression"];
      const rule = this.#compile(path, expression, "any");
      if (rule === undefined || this.#answers(rule.type)) return rule ?? [];
      const { response } = MODE_WORDS[this.#mode];
      this.#error = invalid(path, expression ?? "", `rule response output is expected to be of type ${response}`);
      return [];
    });
    return this.#error ?? { conditions, variables: compiled, rules };
  }

  #answers(type: Type): boolean {
    return type.kind === "null" || (type.kind === "object" && type.name === MODE_WORDS[this.#mode].response);
  }

  /** The expression; `undefined` when it has a mistake, or an earlier one had. */
  #compile(path: FieldPath, source = "", wanted: ResultType): Expression | undefined {
    if (this.#error !== undefined) return undefined;
    const scope: Scope = { optional: [], variables: new Map(this.#types) };
    const expression = this.#compiler.compile(source, wanted, scope);
    if (expression.error === undefined) return expression;
    this.#error = invalid(path, source, expression.error);
    return undefined;
  }
}
