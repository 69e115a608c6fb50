import { marshalYaml } from "../../../../data/go/yaml/marshal.js";
import { parseJson } from "../../../../data/json.js";
import { readYamlAlone } from "../../../../data/yaml.js";
import { asJson } from "../rego-value.js";
import type { Builtin, BuiltinEnvironment } from "./builtin.js";
import { applyPatch } from "./json-patch.js";
import { listOf, textOf } from "./operands.js";

/** The dialect of go-yaml v3, which OPA uses. */
const YAML = { dialect: "opa" } as const;

/** `json.*` and `yaml.*`. */
export const jsonBuiltins = (work: BuiltinEnvironment["work"]): Readonly<Record<string, Builtin>> => ({
  "json.is_valid": (text) => typeof text === "string" && succeeds(() => parseJson(text, { number: () => 0 })),
  "json.patch": (target, patch) => applyPatch(target, listOf(patch, "json.patch"), work),
  "yaml.is_valid": (text) => typeof text === "string" && succeeds(() => readYamlAlone(text, YAML)),
  "yaml.marshal": (value) => marshalYaml(asJson(value)),
  "yaml.unmarshal": (text) => readYamlAlone(textOf(text, "yaml.unmarshal"), YAML)?.value ?? null,
});

function succeeds(attempt: () => unknown): boolean {
  try {
    attempt();
    return true;
  } catch {
    return false;
  }
}
