/** `json.Unmarshal`, as an authorization server has it: a function of the same kind as {@link JSON_FUNCTIONS}, with another name. */
import type { FunctionDeclaration } from "../../../cel/index.js";
import { JSON_FUNCTIONS } from "../libraries/json.js";

/** The one function of `json`. */
export const AUTHORIZATION_JSON: readonly FunctionDeclaration[] = JSON_FUNCTIONS.filter(
  ({ name }) => name === "unmarshal",
).map((declaration) => ({ ...declaration, name: "Unmarshal" }));
