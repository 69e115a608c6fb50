/** The common part of the objects `resource`, `http`, `globalContext` and `image`: receivers of calls, and functions with two names. */
import {
  CelError,
  type FunctionDeclaration,
  noSuchOverload,
  OpaqueValue,
  type Overload,
  type Result,
  type Type,
  type Value,
  Waiting,
} from "../../../cel/index.js";
import { Crash } from "../../../world/objects/object-source.js";
import type { Answered, RequestExternal } from "../../../world/request-external.js";
import { LookupFailure } from "../../../world/resources/resource-source.js";
import type { KyvernoState } from "../state.js";

/** A value that only serves as a receiver. */
export class ContextValue extends OpaqueValue {
  constructor(readonly typeName: string) {
    super();
  }

  equals(): CelError {
    return noSuchOverload();
  }

  toString(): string {
    return this.typeName;
  }

  override get identity(): string {
    return "";
  }
}

/** The world that is asked, and the namespace of the question. */
export interface Asking {
  readonly external: RequestExternal;
  /** The namespace that the policy is confined to; `""` for none. */
  readonly namespace: string;
}

/** One overload of a method that asks: its parameters behind the receiver, and its question. */
export interface AskingOverload {
  /** The id without its ending. */
  readonly id: string;
  readonly params: readonly Type[];
  readonly result: Type;
  ask(asking: Asking, ...args: never[]): Result | Waiting;
}

/** A method by its two names, `Get` and `get`: the reference has overloads of its own for each (spec kyverno.md 4.5). */
export const methodsNamed = (
  pascal: string,
  receiver: Type,
  overloads: readonly AskingOverload[],
): readonly FunctionDeclaration[] => {
  const camel = `${pascal.charAt(0).toLowerCase()}${pascal.slice(1)}`;
  return [
    { name: pascal, overloads: overloads.map((each) => declared(each, receiver, "pascal")) },
    { name: camel, overloads: overloads.map((each) => declared(each, receiver, "camel")) },
  ];
};

const declared = ({ id, params, result, ask }: AskingOverload, receiver: Type, ending: string): Overload => ({
  id: `${id}_${ending}`,
  member: true,
  params: [receiver, ...params],
  result,
  call(state, _receiver, ...args): Result | Waiting {
    const { world, namespace } = state as KyvernoState;
    return (ask as (asking: Asking, ...args: readonly Value[]) => Result | Waiting)(
      { external: world.external, namespace },
      ...args,
    );
  },
});

/**
 * The answer as a value: null for an object that does not exist.
 * @param failed the text before the reason of a failure
 */
export function asValue(answer: Answered<unknown>, failed: string): Result | Waiting {
  if (answer instanceof Waiting) return answer;
  if (answer instanceof Crash) return new CelError(`internal error: ${answer.message}`, "internal");
  if (answer instanceof LookupFailure) return new CelError(`${failed}: ${answer.message}`);
  return (answer ?? null) as Value;
}
