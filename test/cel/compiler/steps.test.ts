/** Evaluations that are left off, so that others have their turn, and go on where they were. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  CelError,
  createEnvironment,
  DYN,
  type Environment,
  type EvaluationOptions,
  Lazy,
  Waiting,
} from "../../../src/cel/index.js";

const variables = [{ name: "object", type: DYN }];
const environment = createEnvironment({ flavour: "kubernetes", variables });
/** With `cel.bind`. */
const standard = createEnvironment({ flavour: "standard", variables });
const LIST = Array.from({ length: 1_000 }, (_, index) => index);
const QUADRATIC = "object.all(x, object.all(y, x >= 0))";

/** The outcome of an evaluation in steps, and how many there were; each look at the clock finds that so many milliseconds have passed. */
function stepped(
  source: string,
  step: number,
  limits: Partial<NonNullable<EvaluationOptions["deadline"]>> = {},
  used: Environment = environment,
) {
  const compiled = used.compile(source);
  assert.ok(compiled.ok, compiled.ok ? "" : compiled.text);
  let time = 0;
  const now = (): number => {
    time += step;
    return time;
  };
  const deadline = { at: Number.POSITIVE_INFINITY, now, slice: 10, ...limits };
  const evaluation = compiled.program.evaluateInSteps({ object: LIST }, { deadline, costLimit: 1e12 });
  for (let steps = 1; ; steps++) {
    const { done, value } = evaluation.next();
    if (done !== true) continue;
    const { result } = value;
    return { result: result instanceof CelError ? result.code : result, cost: value.cost, steps };
  }
}

describe("an evaluation in steps", () => {
  test("leaves off when its slice is over, and comes to the same at the same cost", () => {
    const compiled = environment.compile(QUADRATIC);
    const whole = compiled.ok && compiled.program.evaluate({ object: LIST }, { costLimit: 1e12 });
    const { steps, ...outcome } = stepped(QUADRATIC, 1);
    assert.deepEqual(outcome, whole);
    assert.ok(steps > 5 && steps < 100, `${steps} steps`);
    assert.deepEqual(stepped(QUADRATIC, 0), { ...outcome, steps: 1 });
  });

  test("is bounded by its deadline as a whole, and by its stretch in each step", () => {
    assert.equal(stepped(QUADRATIC, 1, { at: 100 }).result, "interrupted");
    assert.equal(stepped(QUADRATIC, 1, { stretch: 50 }).result, true);
    // Nothing is left off within a call; and what was done before it is not counted.
    const calls = "object.all(x, object == object.map(y, y)) && object.all(x, 'a'.matches('b+') || true)";
    assert.equal(stepped(calls, 1, { stretch: 50 }).result, true);
  });

  test("leaves off where a name is evaluated at its first use", () => {
    const source = `cel.bind(slow, ${QUADRATIC}, object.size() > 0 ? slow && slow : true)`;
    const { result, steps } = stepped(source, 1, {}, standard);
    assert.equal(result, true);
    assert.ok(steps > 5, `${steps} steps`);
  });

  test("tells at which cost the limit was passed", () => {
    const compiled = environment.compile(QUADRATIC);
    assert.ok(compiled.ok);
    const options = { costLimit: 100_000, deadline: { at: Number.POSITIVE_INFINITY, now: () => 0, slice: 0 } };
    const evaluation = compiled.program.evaluateInSteps({ object: LIST }, options);
    let step = evaluation.next();
    for (; step.done !== true; step = evaluation.next());
    const { result, cost } = compiled.program.evaluate({ object: LIST }, { costLimit: 100_000 });
    assert.deepEqual([step.value.cost, step.value.result], [cost, result]);
  });

  test("waits as a whole for what it asks for", () => {
    const compiled = environment.compile("[1].all(x, x == 1) && object == 1");
    assert.ok(compiled.ok);
    const object = new Lazy(() => Waiting.INSTANCE);
    const deadline = { at: Number.POSITIVE_INFINITY, now: () => 0, slice: 10 };
    assert.equal(compiled.program.evaluateInSteps({ object }, { deadline }).next().done, true);
  });
});
