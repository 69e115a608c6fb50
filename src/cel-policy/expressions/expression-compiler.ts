/**
 * Compiles the expressions of many policies against few environments, each distinct one once (spec validating-admission-policy.md 5.1, 5.8).
 */
import { LRUCache } from "lru-cache";
import {
  ADMISSION_REQUEST,
  ADMISSION_TYPES,
  AUTHORIZER,
  DYN,
  type Environment,
  type EnvironmentOptions,
  type KubernetesVersion,
  NAMESPACE,
  objectType,
  type Program,
  RESOURCE_CHECK,
  type Type,
} from "../../cel/index.js";
import { compileExpression, type Expression, isShared } from "./expression.js";
import type { ResultType } from "./result-type.js";

/** What an expression may name beside `object`, `oldObject`, `request` and `namespaceObject`. */
export interface Scope {
  readonly params: boolean;
  readonly authorizer: boolean;
  /** The types of `variables.…`; `undefined` where `variables` is not declared. */
  readonly variables: ReadonlyMap<string, Type> | undefined;
}

/** The type of `variables`. */
export const VARIABLES = "kubernetes.variables";

/** Expressions kept compiled. A policy has about ten: this is a thousand policies with nothing in common. */
const MAX_EXPRESSIONS = 10_000;
/** Environments kept; each policy with variables needs one per variable. */
const MAX_ENVIRONMENTS = 500;

/** Compiles for one version of Kubernetes. Its caches are bounded; keep one per loading. With `watch` programs are traced. */
export class ExpressionCompiler {
  private readonly expressions = new LRUCache<string, Expression>({ max: MAX_EXPRESSIONS });
  private readonly environments = new LRUCache<string, Environment>({ max: MAX_ENVIRONMENTS });

  constructor(
    private readonly create: (options: EnvironmentOptions) => Environment,
    private readonly version: KubernetesVersion,
    private readonly watch?: (program: Program) => Program,
  ) {}

  /** Compiles `text` (default: `source` as it is) where `scope` holds. */
  compile(source: string, wanted: ResultType, scope: Scope, text: string = source): Expression {
    // What names nothing private means the same in every scope, and so is compiled once for all of them.
    const effective = isShared(text) ? SHARED_SCOPE : scope;
    const key = `${scopeKey(effective)}\u0000${wanted}\u0000${text}`;
    let expression = this.expressions.get(key);
    if (expression === undefined) {
      expression = compileExpression(this.environment(effective), source, wanted, text, this.watch);
      this.expressions.set(key, expression);
    }
    return expression.source === source ? expression : { ...expression, source };
  }

  private environment(scope: Scope): Environment {
    const key = scopeKey(scope);
    let environment = this.environments.get(key);
    if (environment === undefined) {
      environment = this.make(scope);
      this.environments.set(key, environment);
    }
    return environment;
  }

  private make(scope: Scope): Environment {
    const { variables } = scope;
    if (variables !== undefined) {
      return this.environment({ ...scope, variables: undefined }).extend({
        variables: [{ name: "variables", type: objectType(VARIABLES) }],
        objectTypes: [{ name: VARIABLES, fields: new Map(variables) }],
      });
    }
    const authorizer = [
      { name: "authorizer", type: AUTHORIZER },
      { name: "authorizer.requestResource", type: RESOURCE_CHECK },
    ];
    return this.create({
      flavour: "kubernetes",
      version: this.version,
      objectTypes: ADMISSION_TYPES,
      variables: [
        { name: "object", type: DYN },
        { name: "oldObject", type: DYN },
        { name: "request", type: ADMISSION_REQUEST },
        { name: "namespaceObject", type: NAMESPACE },
        ...(scope.params ? [{ name: "params", type: DYN }] : []),
        ...(scope.authorizer ? authorizer : []),
      ],
    });
  }
}

const SHARED_SCOPE: Scope = { params: false, authorizer: false, variables: undefined };

function scopeKey({ params, authorizer, variables }: Scope): string {
  const flags = `${params ? "p" : ""}${authorizer ? "a" : ""}`;
  return variables === undefined ? flags : `${flags}v${JSON.stringify([...variables])}`;
}
