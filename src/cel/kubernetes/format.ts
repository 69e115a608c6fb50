/** Named formats (spec kubernetes-cel.md 4.11). */
import type { Library } from "../declarations.js";
import { added, fn, method, overload } from "../declare.js";
import { listType, opaqueType, optionalType, STRING } from "../types.js";

const FORMAT = opaqueType("kubernetes.NamedFormat");

const names = [
  "dns1123Label",
  "dns1123Subdomain",
  "dns1035Label",
  "qualifiedName",
  "dns1123LabelPrefix",
  "dns1123SubdomainPrefix",
  "dns1035LabelPrefix",
  "labelValue",
  "uri",
  "uuid",
  "byte",
  "date",
  "datetime",
];

/** `format.NAME()`, `format.named` and `validate`. */
export const formatLibrary: Library = {
  name: "format",
  functions: added(
    131,
    ...names.map((name) => fn(`format.${name}`, overload(`format.${name}`, [], FORMAT))),
    fn("format.named", overload("format-named", [STRING], optionalType(FORMAT))),
    fn("validate", method("format-validate", [FORMAT, STRING], optionalType(listType(STRING)))),
  ),
};
