/** The functions of JMESPath, Kyverno's own ones included. */
import { NotConverted } from "../../not-converted.js";
import { NUMBER_FUNCTIONS } from "./arithmetic.js";
import type { QueryFunction } from "./declare.js";
import { LIST_FUNCTIONS } from "./lists.js";
import { TEXT_FUNCTIONS } from "./text.js";
import { TIME_FUNCTIONS } from "./times.js";
import { VERSION_FUNCTIONS } from "./versions.js";

/** The functions that are converted, by their names. */
export const FUNCTIONS: ReadonlyMap<string, QueryFunction> = new Map([
  ...LIST_FUNCTIONS,
  ...NUMBER_FUNCTIONS,
  ...TEXT_FUNCTIONS,
  ...TIME_FUNCTIONS,
  ...VERSION_FUNCTIONS,
  refused("is_external_url", "it looks names up in DNS: write the names or networks that are allowed"),
]);

function refused(name: string, instead: string): readonly [string, QueryFunction] {
  return [
    name,
    () => {
      throw new NotConverted([], `the function ${name} of JMESPath is not converted: ${instead}`);
    },
  ];
}
