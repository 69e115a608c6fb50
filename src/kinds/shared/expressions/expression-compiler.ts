/**
 * Compiles the expressions of many policies against few environments, each distinct one once (spec validating-admission-policy.md 5.1, 5.8).
 */
import { LRUCache } from "lru-cache";
import { createEnvironment, type Environment, objectType } from "../../../cel/index.js";
import type { Dialect, Scope } from "../dialect.js";
import type { Watcher } from "../watcher.js";
import { type CompiledExpression, type Expression, expressionOf } from "./expression.js";
import type { ResultType } from "./result-type.js";

/** Most expressions kept compiled. A policy has about ten: this is a thousand policies with nothing in common. */
const MAX_EXPRESSIONS = 10_000;
/** The limit of a cache. With `max` it would allocate memory for all of them at the beginning: half a megabyte for every dialect. */
const AT_MOST_EXPRESSIONS = { maxSize: MAX_EXPRESSIONS, sizeCalculation: () => 1 };
/** Most environments kept; each policy with variables needs one per variable. */
const MAX_ENVIRONMENTS = 500;

/** Compiles a dialect. Its caches are bounded; keep one per loading, so that policies share equal expressions. */
export class ExpressionCompiler {
  readonly dialect: Dialect;
  /** Watches the compiled programs. */
  readonly watcher: Watcher | undefined;
  /** Names that have another meaning in another scope. */
  readonly #privateNames: readonly string[];
  /** Shared expressions by the wanted result and the text. */
  readonly #shared = new LRUCache<string, CompiledExpression>(AT_MOST_EXPRESSIONS);
  /** Other expressions by the scope, too. */
  readonly #own = new LRUCache<string, CompiledExpression>(AT_MOST_EXPRESSIONS);
  readonly #environments = new LRUCache<string, Environment>({ max: MAX_ENVIRONMENTS });
  /** Environments of scopes that grow: an environment looks its variables up while it compiles, and so grows with them. */
  readonly #growing = new WeakMap<Scope, Environment>();

  constructor(dialect: Dialect, watcher?: Watcher) {
    this.dialect = dialect;
    const optional = Object.values(dialect.optional).flat();
    this.#privateNames = ["variables", ...optional.map(({ name }) => name)];
    this.watcher = watcher;
  }

  /** Compiles `text` (default: `source` as it is) in `scope`. */
  compile(source: string, wanted: ResultType, scope: Scope, text: string = source): Expression {
    const sharedKey = `${wanted}\u0000${text}`;
    const ownKey = `${scopeKey(scope)}\u0000${sharedKey}`;
    let expression = this.#shared.get(sharedKey) ?? this.#own.get(ownKey);
    if (expression === undefined) {
      const environment = this.#environment(scope);
      const privateNames = this.#privateNames;
      const { words, knownNames } = this.dialect;
      const trace = this.watcher !== undefined;
      expression = expressionOf(source, { environment, wanted, words, text, privateNames, trace, knownNames });
      // An expression without private names means the same in every scope, and so is compiled once for all of them.
      if (expression.shared) this.#shared.set(sharedKey, expression);
      else this.#own.set(ownKey, expression);
    }
    const { program } = expression;
    if (this.watcher !== undefined && program !== undefined)
      return { ...expression, source, program: this.watcher.watch(program) };
    return expression.source === source ? expression : { ...expression, source };
  }

  #environment(scope: Scope): Environment {
    const grows = scope.key !== undefined;
    const key = grows ? "" : scopeKey(scope);
    let environment = grows ? this.#growing.get(scope) : this.#environments.get(key);
    if (environment === undefined) {
      environment = this.#make(scope);
      if (grows) this.#growing.set(scope, environment);
      else this.#environments.set(key, environment);
    }
    return environment;
  }

  #make({ optional, variables, key }: Scope): Environment {
    const { dialect } = this;
    if (variables !== undefined) {
      const { typeName } = dialect.variables;
      return this.#environment({ optional, variables: undefined }).extend({
        variables: [{ name: "variables", type: objectType(typeName) }],
        objectTypes: [{ name: typeName, fields: key === undefined ? new Map(variables) : variables }],
      });
    }
    const { environment } = dialect;
    return createEnvironment({
      ...environment,
      variables: [...(environment.variables ?? []), ...optional.flatMap((word) => dialect.optional[word] ?? [])],
    });
  }
}

function scopeKey({ optional, variables, key }: Scope): string {
  const words = optional.join(" ");
  if (key !== undefined) return `${words}\u0000${key}`;
  return variables === undefined ? words : `${words}\u0000${JSON.stringify([...variables])}`;
}
