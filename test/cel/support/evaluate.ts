/** Evaluating expressions without variables in tests. */

import { createEnvironment, type Environment } from "../../../src/cel/index.js";
import { CelError } from "../../../src/cel/values/cel-error.js";
import { encodeValue } from "../../../src/kinds/shared/encode-value.js";

const environments = new Map<string, Environment>();

/** The value in the encoding of the vectors, or the text of the error; `C ` stands before one of compiling. */
export function evaluate(source: string, flavour: "kubernetes" | "standard" = "kubernetes"): unknown {
  const environment = environments.get(flavour) ?? createEnvironment({ flavour });
  environments.set(flavour, environment);
  const compiled = environment.compile(source);
  if (!compiled.ok) return `C ${compiled.issues[0]?.message ?? compiled.text}`;
  const { result } = compiled.program.evaluate({});
  if (result instanceof CelError) return result.message;
  return encodeValue(result as Parameters<typeof encodeValue>[0]);
}
