/** JMESPath as CEL. */
import { NotConverted } from "../not-converted.js";
import type { Scope } from "../scope.js";
import type { Term } from "../term.js";

/** An expression of JMESPath, as it stands between `{{` and `}}` or in `jmesPath`, `list`, ... */
export function query(_source: string, _scope: Scope): Term {
  throw new NotConverted([], "to be written");
}
