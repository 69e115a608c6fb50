/** `globalContext`: data that is kept up to date under a name (spec kyverno.md 4.5). */
import {
  CelError,
  DYN,
  type FunctionDeclaration,
  opaqueType,
  type Result,
  STRING,
  type Waiting,
} from "../../../cel/index.js";
import { type Asking, type AskingOverload, asValue, methodsNamed } from "./context-value.js";

/** The type of `globalContext`. */
export const ENTRY_CONTEXT = opaqueType("globalcontext.Context");

const FAILED = "failed to get global reference";
/** The error for a policy of a namespace. The reference also refuses to create it; this is for one that is loaded all the same. */
const NOT_IN_NAMESPACES = new CelError(`${FAILED}: globalContext.* is not allowed in namespaced policies`);

/** The methods of `globalContext`. */
export function entryMethods(namespaced: boolean): readonly FunctionDeclaration[] {
  const ask = ({ external }: Asking, name: string, projection = ""): Result | Waiting =>
    namespaced ? NOT_IN_NAMESPACES : asValue(external.entry(name, projection), FAILED);
  const overloads: readonly AskingOverload[] = [
    { id: "globalcontext_get_string", params: [STRING], result: DYN, ask },
    { id: "globalcontext_get_string_string", params: [STRING, STRING], result: DYN, ask },
  ];
  return methodsNamed("Get", ENTRY_CONTEXT, overloads);
}
