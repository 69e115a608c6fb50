/** The options of commands about modules and registries. */
import { type Command, Option } from "commander";
import type { CommandIo } from "../../data/command-io.js";
import type { LoaderSettings } from "../../loader/settings.js";
import { settingsOf } from "../loader-settings.js";
import type { OptionDefinition } from "../option-definition.js";
import { SERVE_OPTIONS } from "../option-definitions.js";

const named = (...flags: readonly string[]): readonly OptionDefinition[] =>
  SERVE_OPTIONS.filter(({ flag }) => flags.includes(flag));

/** Options for reaching registries. */
export const REGISTRY_OPTIONS = named("sources-path", "docker-config-json-path");
/** Options of the download folder. */
export const DOWNLOAD_OPTIONS = named("policies-download-dir");
/** Options for verifying signatures. */
export const VERIFICATION_OPTIONS = named("verification-path", "sigstore-cache-dir", "sigstore-trust-config");

/** Required signatures in place of those of verification.yml, as in kwctl. */
export interface VerificationFlags {
  readonly verificationKey?: readonly string[];
  readonly verificationAnnotation?: readonly string[];
  readonly certEmail?: string;
  readonly certOidcIssuer?: string;
  readonly githubOwner?: string;
  readonly githubRepo?: string;
}

const several = (text: string, before: readonly string[] | undefined): readonly string[] => [...(before ?? []), text];

/** Adds these flags. */
export function addVerificationFlags(command: Command): void {
  command
    .option("-k, --verification-key <file>", "public key, PEM, that must have signed; may be repeated", several)
    .option("-a, --verification-annotation <key=value>", "what the signature must say; may be repeated", several)
    .option("--cert-email <address>", "mail address that must have signed, with --cert-oidc-issuer")
    .option("--cert-oidc-issuer <url>", "OpenID issuer that must have vouched for it")
    .option("--github-owner <name>", "owner of the GitHub repository whose workflow must have signed")
    .addOption(new Option("--verification-config-path <file>", "kwctl's name for --verification-path").hideHelp())
    .option("--github-repo <name>", "that repository, with --github-owner; without it any of the owner's");
}

/** The settings of options, where verification.yml may have kwctl's flag. */
export function verifyingSettings(
  command: Command,
  io: CommandIo,
  definitions: readonly OptionDefinition[],
): LoaderSettings {
  const { verificationConfigPath: path } = command.opts<{ verificationConfigPath?: string }>();
  return { ...settingsOf(command, io, definitions), ...(path !== undefined && { verificationFile: path }) };
}
