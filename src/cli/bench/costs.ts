/** Costs of expressions in units of Kubernetes' cost model, which is the same on every machine. */
import { type Asking, isExplainable } from "../../kinds/shared/index.js";

/** Most expressions that are listed. */
const MAX_EXPRESSIONS = 1_000;

/** One expression. */
export interface ExpressionCost {
  /** Its policy; a member has its groups in front. */
  readonly policy: string;
  /** `spec.validations[0].expression`, with the title of the policy where a file has several. */
  readonly path: string;
  /** Name of a match condition or a variable. */
  readonly name?: string;
  readonly source: string;
  /** Its cost; the highest for several parameters or values. */
  readonly cost: number;
  /** Its cost limit; absent: none. */
  readonly limit?: number;
}

/** The evaluated expressions of an answer, in order. */
export function expressionCosts(asking: Asking, policy = asking.name): readonly ExpressionCost[] {
  const policies = (asking.policy.together ?? [asking.policy])
    .filter(isExplainable)
    .flatMap((part) => part.explained());
  const own = policies.flatMap(({ title, variants }) =>
    variants.flatMap(({ expressions }) =>
      expressions.flatMap(({ path, name, expression }) => {
        const evaluations = asking.evaluations(expression.program);
        if (evaluations.length === 0) return [];
        const limit = evaluations[0]?.costLimit;
        return [
          {
            policy,
            path: title === "" ? path : `${title} ${path}`,
            ...(name !== undefined && name !== "" && { name }),
            source: expression.source,
            cost: Math.max(...evaluations.map(({ cost }) => cost)),
            ...(limit !== undefined && Number.isFinite(limit) && { limit }),
          },
        ];
      }),
    ),
  );
  const members = asking.members.flatMap((member) => expressionCosts(member, `${policy}/${member.name}`));
  return merged([...own, ...members]).slice(0, MAX_EXPRESSIONS);
}

/** Merges costs: a member that was evaluated several times has each of its expressions once. */
function merged(costs: readonly ExpressionCost[]): readonly ExpressionCost[] {
  const byPlace = new Map<string, ExpressionCost>();
  for (const cost of costs) {
    const key = JSON.stringify([cost.policy, cost.path, cost.name]);
    const before = byPlace.get(key);
    if (before === undefined || before.cost < cost.cost) byPlace.set(key, cost);
  }
  return [...byPlace.values()];
}
