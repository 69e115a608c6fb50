/** How long evaluating an expression holds its thread, and which expressions hold it for too long. */
import { createEnvironment, type Environment } from "../../src/cel/index.js";
import type { Bindings } from "../../src/cel/public-types.js";
import {
  libraryBindings,
  libraryFunctions,
  libraryTypes,
  libraryVariables,
} from "../../src/kinds/kyverno/libraries/index.js";
import type { KyvernoState } from "../../src/kinds/kyverno/state.js";
import { hostileVariables } from "./hostile-objects.js";

/** Milliseconds that an evaluation may hold its thread, as the rooms of policies ask for it, and those until its deadline. */
const STRETCH_MS = 100;
const DEADLINE_MS = 2_000;

/** As much of a request's state as Kyverno's functions look at that ask nobody. */
const STATE: Pick<KyvernoState, "time" | "namespace" | "random"> = { time: 0, namespace: "", random: () => 0.999 };

/** An expression that held the thread for longer than is allowed. */
export interface Stall {
  readonly expression: string;
  /** Milliseconds of CPU time. */
  readonly held: number;
}

/** Evaluates expressions over the hostile variables, and measures. */
export class StallWatch {
  /** Those that compiled; others are no use. */
  compiled = 0;
  refused = 0;
  readonly stalls: Stall[] = [];
  readonly #environment: Environment;
  readonly #bindings: Bindings = {
    ...libraryBindings,
    ...Object.fromEntries(hostileVariables.map(({ name, value }) => [name, value])),
  };

  /**
   * @param allowance how many times the stretch is not yet a stall: the collector's threads are counted too, and its pauses are not the expression's
   * @param functions those that are there beside Kubernetes'
   */
  constructor(
    readonly allowance: number,
    functions: "none" | "kyverno" = "none",
  ) {
    const variables = hostileVariables.map(({ name, type }) => ({ name, type }));
    this.#environment = createEnvironment(
      functions === "none"
        ? { flavour: "kubernetes", variables }
        : {
            flavour: "kubernetes",
            variables: [...variables, ...libraryVariables],
            objectTypes: libraryTypes,
            functions: libraryFunctions,
          },
    );
  }

  /** Tries one expression; a stall is measured once more, because what was compiled or collected by chance is no fault of it. */
  try(expression: string): void {
    const compiled = this.#environment.compile(expression);
    if (!compiled.ok) {
      this.refused += 1;
      return;
    }
    this.compiled += 1;
    const evaluate = (): number => {
      const start = process.cpuUsage();
      const deadline = { at: performance.now() + DEADLINE_MS, now: () => performance.now(), stretch: STRETCH_MS };
      compiled.program.evaluate(this.#bindings, { deadline, state: STATE });
      const { user, system } = process.cpuUsage(start);
      return (user + system) / 1_000;
    };
    const limit = STRETCH_MS * this.allowance;
    if (evaluate() <= limit) return;
    const held = evaluate();
    if (held > limit) this.stalls.push({ expression, held });
  }
}
