/** Reads ConstraintTemplates (gatekeeper 3.23.1, frameworks/constraint, client/client.go and apis/templates). */

import { identityOf } from "../../../config/documents/documents.js";
import type { Path } from "../../../config/documents/problem.js";
import type { SourceDocument } from "../../../config/documents/source-document.js";
import type { JsonObject } from "../../../kubernetes/object.js";
import type { Reading } from "../reading.js";
import type { Matched } from "./match.js";

const TARGET = "admission.k8s.gatekeeper.sh";
const KIND = /^[A-Za-z][A-Za-z0-9-]{0,62}$/;
const OPERATIONS = ["CREATE", "UPDATE", "DELETE", "CONNECT", "*"];

/** The code of a template that Gatekeeper runs. */
export type TemplateCode =
  | { readonly engine: "cel"; readonly path: Path; readonly source: JsonObject }
  | {
      readonly engine: "rego";
      readonly path: Path;
      readonly rego: string;
      readonly libs: readonly string[];
      /** Whether it is written in the syntax before Rego 1.0. */
      readonly isOld: boolean;
    };

/** A template. */
export interface Template {
  readonly document: SourceDocument;
  /** In lower case, the kind of its constraints. */
  readonly name: string;
  readonly kind: string;
  readonly code: TemplateCode;
  /** Where the template names none, those that Gatekeeper's webhook is sent when it is installed as its chart has it. */
  readonly operations: readonly string[];
  /** The schema of parameters; absent: there are none. */
  readonly schema: JsonObject | undefined;
  /** Whether parameters may have members that the schema does not name. */
  readonly takesUnknown: boolean;
}

/** A Constraint with its template, as far as both kinds of code have it in common. */
export interface Bound<Engine extends TemplateCode["engine"]> {
  readonly template: Template & { readonly code: Extract<TemplateCode, { readonly engine: Engine }> };
  /** Receive what can't be converted. */
  readonly ofTemplate: Reading;
  readonly ofConstraint: Reading;
  readonly matched: Matched;
  readonly parameters: unknown;
  readonly actions: readonly string[];
  readonly name: string;
  readonly comments: readonly string[];
}

/** The template; undefined, with the reasons in `reading`, where it can't be converted. */
export function readTemplate(reading: Reading): Template | undefined {
  const { document } = reading;
  const { name, version } = identityOf(document);
  const crd: Path = ["spec", "crd", "spec"];
  const kind = reading.text([...crd, "names", "kind"]) ?? "";
  if (!KIND.test(kind))
    reading.error([...crd, "names", "kind"], "expected the kind of its constraints: letters and digits");
  else if (name.toLowerCase() !== kind.toLowerCase() || name === "")
    reading.error(["metadata", "name"], `must be ${kind.toLowerCase()}, the kind of its constraints in lower case`);
  const targets = reading.list(["spec", "targets"]) ?? [];
  if (targets.length !== 1)
    reading.error(["spec", "targets"], targets.length === 0 ? "the target is missing" : "Gatekeeper takes one target");
  const target: Path = ["spec", "targets", 0];
  if (targets.length > 0 && reading.text([...target, "target"]) !== TARGET)
    reading.error([...target, "target"], `expected ${TARGET}, the target of admission requests`);
  const path: Path = [...target, "operations"];
  const operations = (reading.list(path) ?? []).map((_, index) => reading.oneOf([...path, index], OPERATIONS));
  if (operations.includes("*") && operations.length > 1)
    reading.error(path, "where * is present no other operation may be");
  if (reading.failed) return undefined;
  const code = codeOf(reading, target);
  if (code === undefined || reading.failed) return undefined;
  const validation = reading.map([...crd, "validation"]);
  const schema = reading.map([...crd, "validation", "openAPIV3Schema"]);
  const legacy = validation?.legacySchema;
  const takesUnknown = typeof legacy === "boolean" ? legacy : version !== "v1";
  return {
    document,
    name,
    kind,
    code,
    operations: operations.length === 0 ? ["CREATE", "UPDATE"] : operations,
    schema: schema ?? (takesUnknown ? {} : undefined),
    takesUnknown,
  };
}

/** The code that counts: CEL before Rego, the first of each; Rego at the target itself before that of `code`. */
function codeOf(reading: Reading, target: Path): TemplateCode | undefined {
  const list = reading.list([...target, "code"]) ?? [];
  const engines = list.map((_, index) => reading.text([...target, "code", index, "engine"]));
  const cel = engines.indexOf("K8sNativeValidation");
  if (cel >= 0) {
    const path = [...target, "code", cel, "source"];
    const source = reading.map(path);
    if (source === undefined) reading.error(path, "the source is missing");
    if (engines.includes("Rego") || reading.text([...target, "rego"]) !== undefined)
      reading.note([...target, "code", cel], "the template has Rego, too: Gatekeeper runs the CEL, and so does this");
    return source && { engine: "cel", path, source };
  }
  const isOwn = (reading.text([...target, "rego"]) ?? "") !== "";
  const rego = engines.indexOf("Rego");
  if (!isOwn && rego < 0) {
    const others = engines.length === 0 ? "it has no code" : "Gatekeeper knows no such engine";
    reading.error([...target, "code"], `${others}: K8sNativeValidation and Rego are converted`);
    return undefined;
  }
  const path: Path = isOwn ? target : [...target, "code", rego, "source"];
  const text = reading.text([...path, "rego"]);
  if (text === undefined || text.trim() === "") reading.error([...path, "rego"], "the Rego is missing");
  return {
    engine: "rego",
    path: [...path, "rego"],
    rego: text ?? "",
    libs: reading.texts([...path, "libs"]) ?? [],
    isOld: reading.oneOf([...path, "version"], ["v0", "v1"]) !== "v1",
  };
}

/** Labels or annotations of an object, without those of kubectl. */
export function metadataOf(reading: Reading, key: "annotations" | "labels"): Readonly<Record<string, string>> {
  const path: Path = ["metadata", key];
  const names = Object.keys(reading.map(path) ?? {}).filter((name) => !name.startsWith("kubectl.kubernetes.io/"));
  return Object.fromEntries(names.map((name) => [name, reading.text([...path, name]) ?? ""]));
}
