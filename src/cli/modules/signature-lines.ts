/** Texts of signatures. */
import { keyFingerprint } from "../../config/public-key.js";
import type { WantedSignature } from "../../config/verification.js";
import { printable } from "../../data/printable.js";
import type { FoundSignature, Requirement, SignatureReport } from "../../fetch/index.js";
import type { Paint } from "../look/paint.js";

/** Lines with the result of verifying an image. */
export function reportLines(
  reference: string,
  report: SignatureReport | { readonly error: string },
  paint: Paint,
): string[] {
  const image = printable(reference);
  if ("error" in report) return [`${paint("bad", "not verified")} ${image}`, `  ${printable(report.error)}`];
  const { digest, found, allOf, anyOf, isMet } = report;
  const lines = [
    isMet ? `${paint("good", "verified")} ${image}` : `${paint("bad", "not verified")} ${image}`,
    `  ${paint("quiet", digest)}`,
  ];
  for (const requirement of allOf) lines.push(`  ${requirementLine(requirement, found, paint)}`);
  if (anyOf !== undefined) {
    lines.push(`  ${anyOf.minimumMatches} of these:`);
    for (const requirement of anyOf.requirements) lines.push(`    ${requirementLine(requirement, found, paint)}`);
  }
  if (isMet) return lines;
  lines.push(found.length === 0 ? "  it has no signatures" : "  signatures that it has:");
  return [...lines, ...found.map((signature) => `    ${signatureText(signature)}`)];
}

function requirementLine({ wanted, metBy }: Requirement, found: readonly FoundSignature[], paint: Paint): string {
  const signature = metBy === undefined ? undefined : found[metBy];
  if (signature === undefined) return `${paint("bad", "missing")} ${wantedText(wanted)}`;
  return `${paint("good", "ok")} ${wantedText(wanted)}${signature.subject === undefined ? "" : `: signed by ${printable(signature.subject)}`}`;
}

function wantedText(wanted: WantedSignature): string {
  const notes = Object.entries(wanted.annotations ?? {}).map(([key, value]) => `${key}=${value}`);
  return printable(`${whose(wanted)}${notes.length === 0 ? "" : `, with ${notes.join(", ")}`}`);
}

function whose(wanted: WantedSignature): string {
  switch (wanted.kind) {
    case "pubKey":
      return `with the key ${wanted.owner === undefined ? keyFingerprint(wanted.key) : `of ${wanted.owner}`}`;
    case "githubAction":
      return `by a GitHub workflow of ${wanted.owner}${wanted.repo === undefined ? "" : `/${wanted.repo}`}`;
    case "genericIssuer": {
      const { subject } = wanted;
      return "equal" in subject
        ? `by ${subject.equal} (${wanted.issuer})`
        : `by ${subject.urlPrefix}… (${wanted.issuer})`;
    }
  }
}

/** The text of a present signature. */
export function signatureText({ issuer, subject, withKey, annotations, problem }: FoundSignature): string {
  const who = subject === undefined ? (withKey ? "with some key" : "with a certificate") : `by ${subject} (${issuer})`;
  const notes = Object.entries(annotations).map(
    ([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return printable([who, ...notes, ...(problem === undefined ? [] : [problem])].join(", "));
}
