/** What expressions cost in units of Kubernetes' cost model, which is the same on every machine. */
import { type Asking, isExplainable } from "../../kinds/shared/index.js";

/** Expressions that are listed. */
const MAX_EXPRESSIONS = 1_000;

/** One expression. */
export interface ExpressionCost {
  /** The policy that has it; of a member with the groups before it. */
  readonly policy: string;
  /** `spec.validations[0].expression`, with the title of the policy where a file has several. */
  readonly path: string;
  /** Of a match condition or a variable. */
  readonly name?: string;
  readonly source: string;
  /** The most that it came to, for several parameters or values. */
  readonly cost: number;
  /** What it may cost; absent: there is no limit. */
  readonly limit?: number;
}

/** The expressions that were evaluated for an answer, in order. */
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

/** A member that was asked several times has each of its expressions once. */
function merged(costs: readonly ExpressionCost[]): readonly ExpressionCost[] {
  const byPlace = new Map<string, ExpressionCost>();
  for (const cost of costs) {
    const key = JSON.stringify([cost.policy, cost.path, cost.name]);
    const before = byPlace.get(key);
    if (before === undefined || before.cost < cost.cost) byPlace.set(key, cost);
  }
  return [...byPlace.values()];
}
