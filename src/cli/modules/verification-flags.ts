/** Converts kwctl's flags about signatures to entries of verification.yml. */
import { readFileSync } from "node:fs";
import { readPublicKey } from "../../config/public-key.js";
import type { VerificationConfig, WantedSignature } from "../../config/verification.js";
import { UsageError } from "../../data/command-io.js";
import { fileProblem } from "../../data/file-problem.js";
import type { VerificationFlags } from "./options.js";

/**
 * The signatures that the flags require: all of them.
 * @returns undefined without flags
 * @throws UsageError
 */
export function flaggedSignatures(flags: VerificationFlags): VerificationConfig | undefined {
  const { verificationKey = [], certEmail, certOidcIssuer, githubOwner, githubRepo } = flags;
  const wanted: WantedSignature[] = verificationKey.map((file) => ({ kind: "pubKey", owner: file, key: keyOf(file) }));
  if ((certEmail === undefined) !== (certOidcIssuer === undefined))
    throw new UsageError("--cert-email and --cert-oidc-issuer go together: who signed, and who vouched for them");
  if (certEmail !== undefined && certOidcIssuer !== undefined)
    wanted.push({ kind: "genericIssuer", issuer: certOidcIssuer, subject: { equal: certEmail } });
  if (githubRepo !== undefined && githubOwner === undefined)
    throw new UsageError("--github-repo needs --github-owner: whose repository?");
  if (githubOwner !== undefined)
    wanted.push({ kind: "githubAction", owner: githubOwner, ...(githubRepo !== undefined && { repo: githubRepo }) });
  const annotations = annotationsOf(flags.verificationAnnotation ?? []);
  if (wanted.length === 0) {
    if (annotations !== undefined)
      throw new UsageError(
        "--verification-annotation says what a signature must say, and not whose: add --verification-key, --cert-email or --github-owner",
      );
    return undefined;
  }
  return { allOf: wanted.map((one) => ({ ...one, ...(annotations && { annotations }) })) };
}

function keyOf(file: string): string {
  let pem: string;
  try {
    pem = readFileSync(file, "utf8");
  } catch (cause) {
    throw new UsageError(`--verification-key ${file}: ${fileProblem(cause)}`);
  }
  if (readPublicKey(pem) !== undefined) return pem;
  throw new UsageError(`--verification-key ${file}: expected a public key in PEM`);
}

function annotationsOf(texts: readonly string[]): Readonly<Record<string, string>> | undefined {
  if (texts.length === 0) return undefined;
  return Object.fromEntries(
    texts.map((text) => {
      const sign = text.indexOf("=");
      if (sign < 1) throw new UsageError(`--verification-annotation ${text}: expected key=value`);
      return [text.slice(0, sign), text.slice(sign + 1)];
    }),
  );
}
