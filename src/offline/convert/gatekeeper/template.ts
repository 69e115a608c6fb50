/** Reads ConstraintTemplates (gatekeeper 3.23.1, frameworks/constraint, client/client.go and apis/templates). */
import { identityOf } from "../../../config/documents/documents.js";
import type { Path } from "../../../config/documents/problem.js";
import { type JsonObject, member } from "../../../kubernetes/object.js";
import type { Reading } from "../reading.js";
import type { Matched } from "./match.js";

const KIND_PATH: Path = ["spec", "crd", "spec", "names", "kind"];
const KIND = /^[A-Za-z][A-Za-z0-9-]{0,62}$/;
const TARGET: Path = ["spec", "targets", 0];
const TARGET_NAME = "admission.k8s.gatekeeper.sh";
/** The variables that Gatekeeper gives to templates. */
const OWN_VARIABLE = /^(?:anyObject$|params$|gatekeeper_internal_)/;
const MEMBERS = ["validations", "failurePolicy", "matchCondition", "variables", "generateVAP"];
const OPERATIONS = ["CREATE", "UPDATE", "DELETE", "CONNECT", "*"];

/** The code of a template that Gatekeeper runs, at its place. */
export type TemplateCode = { readonly path: Path } & (
  | { readonly source: JsonObject }
  | {
      readonly rego: string;
      readonly libs: readonly string[];
      /** Whether it is written in the syntax before Rego 1.0. */
      readonly isOld: boolean;
    }
);

/** A template. */
export interface Template {
  readonly reading: Reading;
  /** In lower case, the kind of its constraints. */
  readonly name: string;
  readonly code: TemplateCode;
  /** Where the template names none, those that Gatekeeper's webhook is sent when it is installed as its chart has it. */
  readonly operations: readonly string[];
  /** The schema of parameters; absent: there are none. */
  readonly schema: JsonObject | undefined;
  /** Whether parameters may have members that the schema does not name. */
  readonly takesUnknown: boolean;
}

/** A Constraint with its template; the readings of both receive what can't be converted. */
export interface Bound {
  readonly template: Template;
  readonly constraint: Reading;
  readonly matched: Matched;
  readonly parameters: unknown;
  readonly actions: readonly string[];
  readonly name: string;
  readonly comments: readonly string[];
}

/** The kind of a template's constraints. */
export const kindOf = (reading: Reading): string => reading.text(KIND_PATH) ?? "";

/** The template; undefined, with the reasons in `reading`, where it can't be converted. */
export function readTemplate(reading: Reading): Template | undefined {
  const { kind: written, name, version } = identityOf(reading.document);
  if (written !== "ConstraintTemplate") reading.error(["kind"], "expected ConstraintTemplate");
  if (!/^v1(?:alpha1|beta1)?$/.test(version)) reading.error(["apiVersion"], "expected templates.gatekeeper.sh/v1");
  const kind = kindOf(reading);
  if (!KIND.test(kind)) reading.error(KIND_PATH, "expected the kind of its constraints: letters and digits");
  else if (name !== kind.toLowerCase())
    reading.error(["metadata", "name"], `must be ${kind.toLowerCase()}, the kind of its constraints in lower case`);
  const targets = reading.list(["spec", "targets"]);
  if (targets.length !== 1)
    reading.error(["spec", "targets"], targets.length === 0 ? "the target is missing" : "Gatekeeper takes one target");
  else if (reading.text([...TARGET, "target"]) !== TARGET_NAME)
    reading.error([...TARGET, "target"], `expected ${TARGET_NAME}, the target of admission requests`);
  const path: Path = [...TARGET, "operations"];
  const operations = reading.list(path).map((_, index) => reading.oneOf([...path, index], OPERATIONS));
  if (operations.includes("*") && operations.length > 1)
    reading.error(path, "where * is present no other operation may be");
  const code = reading.failed ? undefined : codeOf(reading);
  const validation = reading.map(["spec", "crd", "spec", "validation"]);
  const schema = reading.map(["spec", "crd", "spec", "validation", "openAPIV3Schema"]);
  if (code === undefined || reading.failed) return undefined;
  const legacy = validation?.legacySchema;
  const takesUnknown = typeof legacy === "boolean" ? legacy : version !== "v1";
  return {
    reading,
    name,
    code,
    operations: operations.length === 0 ? ["CREATE", "UPDATE"] : operations,
    schema: schema ?? (takesUnknown ? {} : undefined),
    takesUnknown,
  };
}

/** The code that counts: CEL before Rego, the first of each; Rego at the target itself before that of `code`. */
function codeOf(reading: Reading): TemplateCode | undefined {
  const list: Path = [...TARGET, "code"];
  const engines = reading.list(list).map((_, index) => reading.text([...list, index, "engine"]));
  const hasOwn = (reading.text([...TARGET, "rego"]) ?? "") !== "";
  const [cel, rego] = [engines.indexOf("K8sNativeValidation"), engines.indexOf("Rego")];
  if (cel >= 0) {
    const path = [...list, cel, "source"];
    const source = reading.map(path);
    if (source === undefined) reading.error(path, "the source is missing");
    if (rego >= 0 || hasOwn)
      reading.note([...list, cel], "the template has Rego, too: Gatekeeper runs the CEL, and so does this");
    if (source !== undefined) checkSource(reading, source, path);
    return source && { path, source };
  }
  if (!hasOwn && rego < 0) {
    const others = engines.length === 0 ? "it has no code" : "Gatekeeper knows no such engine";
    reading.error(list, `${others}: K8sNativeValidation and Rego are converted`);
    return undefined;
  }
  const path: Path = hasOwn ? TARGET : [...list, rego, "source"];
  const text = reading.text([...path, "rego"]) ?? "";
  if (text.trim() === "") reading.error([...path, "rego"], "the Rego is missing");
  return {
    path: [...path, "rego"],
    rego: text,
    libs: reading.texts([...path, "libs"]),
    isOld: reading.oneOf([...path, "version"], ["v0", "v1"]) !== "v1",
  };
}

/** Finds members that Gatekeeper would refuse, and those that it does not read. */
function checkSource(reading: Reading, source: JsonObject, path: Path): void {
  for (const key of Object.keys(source).filter((each) => !MEMBERS.includes(each))) {
    const hint = key === "matchConditions" ? ": it reads matchCondition" : "";
    reading.note([...path, key], `left out, as Gatekeeper does not read it${hint}`);
  }
  for (const key of ["validations", "variables", "matchCondition"])
    for (const [index, each] of reading.list([...path, key]).entries()) {
      reading.map([...path, key, index]);
      const name = String(member(each, "name"));
      if (key === "variables" && OWN_VARIABLE.test(name))
        reading.error([...path, key, index, "name"], `Gatekeeper refuses the name ${name}, which is its own`);
    }
  if (reading.list([...path, "validations"]).length === 0)
    reading.error([...path, "validations"], "there is none, so Gatekeeper judges nothing by it");
}
