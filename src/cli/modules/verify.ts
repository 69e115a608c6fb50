/** `verify`: checks modules for required signatures, and reports signers and missing ones. */

import { loadConfig } from "../../config/index.js";
import { loadVerification, type VerificationConfig } from "../../config/verification.js";
import { type CommandIo, say, UsageError } from "../../data/command-io.js";
import { errorText } from "../../data/error-text.js";
import { EXIT, nothingJudged } from "../../data/exit-codes.js";
import {
  DOWNLOAD_TIMEOUT_MS,
  formatImageReference,
  type ImageReference,
  type SignatureReport,
  signatureReport,
} from "../../fetch/index.js";
import { fetchOptions } from "../../loader/fetch-options.js";
import { downloads } from "../../loader/prefetch.js";
import type { LoaderSettings } from "../../loader/settings.js";
import { paintFor } from "../look/paint.js";
import { withRegistries } from "./access.js";
import { registryAddress } from "./address.js";
import type { VerificationFlags } from "./options.js";
import { reportLines } from "./signature-lines.js";
import { flaggedSignatures } from "./verification-flags.js";

/** Options of `verify` alone. */
export interface VerifyOptions extends VerificationFlags {
  readonly output: "text" | "json";
}

/** The result of one image. */
interface Verified {
  readonly image: ImageReference;
  readonly report: SignatureReport | { readonly error: string };
}

/**
 * Verifies an artifact, or every module that a policies file takes from a registry.
 * @returns the exit code: 1 when a required signature is missing, 2 when one could not be checked, 3 when there is nothing to verify
 */
export async function verifyCommand(
  what: string,
  options: VerifyOptions,
  settings: LoaderSettings,
  io: CommandIo,
): Promise<number> {
  const config = wanted(options, settings);
  const images = imagesOf(what, io);
  if (images.length === 0) return nothingJudged(`${what} takes no module from a registry`, io);
  const { signatures } = fetchOptions(settings);
  const verified = await withRegistries(settings, what, async ({ registry }) => {
    const all: Verified[] = [];
    for (const image of images) {
      const signal = AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS);
      const look = async (): Promise<SignatureReport> => {
        const digest = image.digest ?? (await registry.manifest(image, signal)).digest;
        return signatureReport(config, { registry, image, digest, signal }, signatures);
      };
      // One that is not available must not hide the others' results.
      const report = await look().catch((cause: unknown) => ({ error: errorText(cause) }));
      all.push({ image, report });
    }
    return all;
  });
  const paint = paintFor(io.stdout, io.env);
  if (options.output === "json") io.stdout.write(`${JSON.stringify(verified.map(asJson), null, 2)}\n`);
  else
    for (const { image, report } of verified)
      io.stdout.write(`${reportLines(formatImageReference(image), report, paint).join("\n")}\n`);
  if (verified.some(({ report }) => "error" in report)) return EXIT.NOT_ASKED;
  return verified.every(({ report }) => !("error" in report) && report.isMet) ? EXIT.FINE : EXIT.NO;
}

function wanted(flags: VerificationFlags, { verificationFile }: LoaderSettings): VerificationConfig {
  const flagged = flaggedSignatures(flags);
  if (flagged !== undefined) return flagged;
  if (verificationFile !== undefined) return loadVerification(verificationFile);
  throw new UsageError(
    "whose signature is wanted? Name a verification.yml (--verification-path), or say it by --verification-key, --cert-email or --github-owner",
  );
}

function imagesOf(what: string, io: CommandIo): readonly ImageReference[] {
  if (!/\.ya?ml$/.test(what)) return [registryAddress(what, "signatures stand beside artifacts in registries")];
  const read = loadConfig(what);
  if (!read.ok) throw new UsageError(read.message);
  const locations = [...new Set(downloads(read.config.entries).map(({ location }) => location))];
  const images = locations
    .filter((location) => location.startsWith("registry://"))
    .map((location) => registryAddress(location, ""));
  const others = locations.length - images.length;
  if (others > 0) say(io.stderr, `note: ${others} of its modules come by HTTP, and have no signatures`);
  return images;
}

function asJson({ image, report }: Verified): object {
  const address = formatImageReference(image);
  if ("error" in report) return { image: address, verified: false, error: report.error };
  const { isMet, ...rest } = report;
  return { image: address, verified: isMet, ...rest };
}
