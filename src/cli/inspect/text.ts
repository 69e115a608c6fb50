/** Results of `inspect` as text. */
import { printable } from "../../data/printable.js";
import { isObject, member, text } from "../../kubernetes/object.js";
import type { Paint } from "../look/paint.js";
import { sizeText } from "../modules/kept-modules.js";
import { signatureText } from "../modules/signature-lines.js";
import type { Inspected, InspectedArtifact, InspectedDocument, InspectedModule, InspectedPolicy } from "./inspected.js";
import { ruleText } from "./policies.js";

/** Most names in a line; a Go module exports hundreds. */
const LISTED = 12;
/** Width of the column of labels. */
const LABEL = 14;
/** Prefix of Kubewarden's annotations. */
const ANNOTATION = "io.kubewarden.policy.";

/** The lines; foreign texts are made printable. */
export function inspectedLines({ module, policies = [], problems }: Inspected, paint: Paint): string[] {
  const sheet = new Sheet(paint);
  if (module !== undefined) {
    sheet.title(module.address);
    moduleLines(module, sheet);
  }
  for (const policy of policies) policyLines(policy, sheet);
  // A module's problem is printed with it.
  if (module === undefined && problems.length > 0) {
    sheet.title("problems");
    for (const problem of problems) sheet.line(problem);
  }
  return sheet.lines;
}

/** Collects lines under headings. */
class Sheet {
  readonly lines: string[] = [];
  constructor(readonly paint: Paint) {}

  title(name: string): void {
    if (this.lines.length > 0) this.lines.push("");
    this.lines.push(this.paint("strong", printable(name)));
  }

  /** Adds a row; none for an empty text. Several lines are aligned. */
  row(label: string, value: string, tone?: "good" | "bad" | "doubt"): void {
    if (value === "") return;
    for (const [index, each] of value.trimEnd().split("\n").entries()) {
      const shown = tone === undefined ? printable(each) : this.paint(tone, printable(each));
      this.lines.push(
        `  ${this.paint("quiet", (index === 0 ? printable(label) : "").padEnd(LABEL))}${shown}`.trimEnd(),
      );
    }
  }

  line(value: string): void {
    for (const each of value.split("\n")) this.lines.push(`  ${printable(each)}`);
  }
}

function moduleLines(module: InspectedModule, sheet: Sheet): void {
  const { protocol, mayBe, problem, memory, warmStart, metadata, artifact, plugin } = module;
  if (mayBe !== undefined) sheet.row("protocol", `${mayBe.join(" or ")}: its entry says which, by executionMode`);
  else sheet.row("protocol", protocol ?? "none", protocol === undefined ? "bad" : undefined);
  if (problem !== undefined) sheet.row("refused", problem, "bad");
  sheet.row("size", sizeText(module.size));
  sheet.row("digest", module.digest);
  if (memory !== undefined)
    sheet.row("memory", `${sizeText(memory.initial)} at the start, at most ${sizeText(memory.maximum)}`);
  if (problem === undefined) sheet.row("warm start", warmStart.possible ? "possible" : `no: ${warmStart.because}`);
  sheet.row(
    "asks the host",
    module.asksHost ? "yes, by what it imports: its entry needs hostCapabilities for that" : "no",
  );
  const imports = Object.entries(module.imports).map(([from, names]) => `${from}: ${listed(names)}`);
  sheet.row("imports", imports.join("\n"));
  sheet.row("exports", listed(Object.keys(module.exports)));
  if (!isObject(metadata) && problem === undefined) sheet.row("metadata", "none");
  if (artifact !== undefined) artifactLines(artifact, sheet);
  if (plugin !== undefined) {
    sheet.title("Extism manifest");
    sheet.row(
      "modules",
      plugin.modules
        .map(({ name, source, hash }) => `${name}: ${source}${hash === undefined ? "" : ` (sha256 ${hash})`}`)
        .join("\n"),
    );
    sheet.row("config", plugin.config.join(", "));
    sheet.row("allowed hosts", plugin.allowedHosts.join(", "));
  }
  if (isObject(metadata)) metadataLines(metadata, sheet);
}

function artifactLines({ reference, layers, config, annotations, signatures }: InspectedArtifact, sheet: Sheet): void {
  sheet.title("artifact");
  sheet.row("reference", reference);
  sheet.row("config", config ?? "");
  sheet.row(
    "layers",
    layers.map(({ mediaType, size, digest }) => `${mediaType}, ${sizeText(size)}, ${digest}`).join("\n"),
  );
  sheet.row(
    "annotations",
    Object.entries(annotations)
      .map(([key, value]) => `${key}: ${value}`)
      .join("\n"),
  );
  if (signatures !== undefined)
    sheet.row("signatures", signatures.length === 0 ? "none" : signatures.map(signatureText).join("\n"));
}

function metadataLines(metadata: Readonly<Record<string, unknown>>, sheet: Sheet): void {
  sheet.title("metadata");
  const annotations = member(metadata, "annotations");
  const known = isObject(annotations) ? Object.entries(annotations) : [];
  const [own, others] = [
    known.filter(([key]) => key.startsWith(ANNOTATION)),
    known.filter(([key]) => !key.startsWith(ANNOTATION)),
  ];
  const usage = own.find(([key]) => key === `${ANNOTATION}usage`);
  for (const [key, value] of own) if (key !== usage?.[0]) sheet.row(key.slice(ANNOTATION.length), String(value));
  for (const [key, value] of others) sheet.row(key, ` ${String(value)}`);
  for (const key of ["executionMode", "protocolVersion", "policyType", "minimumKubewardenVersion"])
    sheet.row(LABELS[key] ?? key, text(metadata, key));
  for (const key of ["mutating", "backgroundAudit"])
    if (typeof metadata[key] === "boolean") sheet.row(LABELS[key] ?? key, metadata[key] ? "yes" : "no");
  sheet.row(
    "rules",
    listOf(metadata.rules)
      .map((rule) => ruleText(rule))
      .join("\n"),
  );
  sheet.row(
    "reads",
    listOf(metadata.contextAwareResources)
      .map((each) => `${text(each, "kind")} of ${text(each, "apiVersion")}`)
      .join("\n"),
  );
  if (Array.isArray(metadata.hostCapabilities))
    sheet.row("capabilities", metadata.hostCapabilities.map(String).join(", "));
  if (usage !== undefined) {
    sheet.title("usage");
    sheet.line(String(usage[1]).trimEnd());
  }
}

const LABELS: Readonly<Record<string, string>> = {
  executionMode: "mode",
  protocolVersion: "protocol",
  policyType: "for",
  minimumKubewardenVersion: "needs version",
  backgroundAudit: "in audits",
};

const listOf = (value: unknown): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

function policyLines(policy: InspectedPolicy, sheet: Sheet): void {
  const { mode, allowedToMutate, expression, messageExpression, members, module } = policy;
  sheet.title(policy.id);
  if (policy.place !== policy.id) sheet.row("place", policy.place);
  sheet.row(
    "kind",
    policy.kind === policy.implementation ? policy.kind : `${policy.kind}: ${policy.implementation}`,
    policy.implementation === "unavailable" ? "bad" : undefined,
  );
  if (mode === "monitor") sheet.row("mode", mode);
  if (allowedToMutate === true) sheet.row("may change", "objects (allowedToMutate)");
  sheet.row("expression", expression ?? "");
  sheet.row("message", messageExpression ?? "");
  const annotations = Object.entries(policy.auditAnnotations ?? {});
  sheet.row("annotations", annotations.map(([key, value]) => `${key}: ${value}`).join("\n"));
  sheet.row(
    "members",
    Object.entries(members ?? {})
      .map(([name, what]) => `${name}: ${what}`)
      .join("\n"),
  );
  sheet.row("asked about", policy.rules.join("\n"));
  sheet.row("documents", policy.documents.map(documentText).join("\n"));
  sheet.row("expressions", policy.expressions.length === 0 ? "" : String(policy.expressions.length));
  sheet.row("of a cluster", policy.needs.join("\n"));
  if (module === undefined) return;
  sheet.row("module", module.address);
  moduleLines(module, sheet);
}

function documentText({ file, line, kind, apiVersion, name, parts, params, binds }: InspectedDocument): string {
  const notes = [
    ...Object.entries(parts).map(([part, count]) => `${part}: ${count}`),
    ...(params === undefined ? [] : [`parameters: ${params}`]),
    ...(binds === undefined ? [] : [`binds ${binds}`]),
  ];
  return `${kind === "" ? "a document without a kind" : `${kind} ${name}`} (${apiVersion || "no apiVersion"}, ${file}:${line})${notes.length === 0 ? "" : `: ${notes.join(", ")}`}`;
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, LISTED).join(", ");
  return names.length > LISTED ? `${shown} and ${names.length - LISTED} more` : shown;
}
