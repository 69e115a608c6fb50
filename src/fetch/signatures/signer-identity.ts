/** The identity in a certificate of Fulcio, and the patterns that it must fit (spec kyverno.md 9). */
import type { Certificate } from "../../x509/certificate.js";
import { DerReader, readAll, TAG } from "../../x509/der.js";
import { extensionsOf, type GeneralName, generalNames, identifierOf, tagged } from "../../x509/fields.js";
import type { SignerPattern } from "./attestor.js";
import { SignatureProblem } from "./statement.js";

/** The arc of Fulcio's extensions. */
const FULCIO = "1.3.6.1.4.1.57264.1";
/** Tags of alternative names that are texts: mail address, host, URI. */
const TEXT_NAMES: ReadonlySet<number> = new Set([1, 2, 6]);
/** Extensions up to this one are plain texts, later ones are in DER. */
const LAST_PLAIN = 6;
/** Names of Fulcio's extensions, from the first number on; the seventh is a name of users. */
const EXTENSIONS =
  "oidcIssuer githubWorkflowTrigger githubWorkflowSha githubWorkflowName githubWorkflowRepository githubWorkflowRef - issuer buildSignerURI buildSignerDigest runnerEnvironment sourceRepositoryURI sourceRepositoryDigest sourceRepositoryRef sourceRepositoryIdentifier sourceRepositoryOwnerURI sourceRepositoryOwnerIdentifier buildConfigURI buildConfigDigest buildTrigger runInvocationURI sourceRepositoryVisibilityAtSigning"
    .toLowerCase()
    .split(" ");
/** Most characters of a pattern, with its repetitions written out. */
const MAX_PATTERN = 10_000;
const NO_NAMES = Buffer.alloc(0);
/** Most bytes of a certificate's names: patterns are tried on them before it is known that an authority has issued it. */
export const MAX_NAMES = 4096;
/** Characters of an identity in a reason. */
const MAX_SHOWN = 200;

/** Whether an identity fits. */
type Fits = (subjects: readonly string[], issuer: string) => boolean;

/**
 * The patterns of an attestor, one of which must fit as a whole; none: any identity fits.
 * @throws SignatureProblem for a pattern that is not a regular expression (RE2)
 */
export async function identityTest(patterns: readonly SignerPattern[] = []): Promise<Fits> {
  const tests = await Promise.all(
    patterns.map(async ({ issuer, subject, issuerRegExp, subjectRegExp }): Promise<Fits> => {
      const issuerTest = await textTest("issuer", issuer, issuerRegExp);
      const subjectTest = await textTest("subject", subject, subjectRegExp);
      const isAny = subjectTest === undefined;
      return (subjects, name) => (isAny || subjects.some(subjectTest)) && (issuerTest?.(name) ?? true);
    }),
  );
  return tests.length === 0 ? () => true : (...identity) => tests.some((test) => test(...identity));
}

async function textTest(member: string, exact = "", pattern = ""): Promise<((text: string) => boolean) | undefined> {
  if (pattern === "") return exact === "" ? undefined : (text) => text === exact;
  const { RE2JS } = await import("re2js");
  const wrong = (why: string) => new SignatureProblem(`${member}RegExp of the attestor ${why}`);
  const size = [...pattern.matchAll(/\{(\d+),?(\d*)\}/g)].reduce((all, [, a, b]) => all * Number(b || a || 1), 1);
  // A class of characters compiles to as much as hundred characters.
  const classes = pattern.match(/\\p/gi)?.length ?? 0;
  if ((pattern.length + 100 * classes) * Math.max(size, 1) > MAX_PATTERN) throw wrong("is too large");
  try {
    const compiled = RE2JS.compile(pattern);
    return (text) => (exact === "" || text === exact) && compiled.test(text);
  } catch {
    throw wrong("is not a regular expression (RE2)");
  }
}

/**
 * Checks what a certificate says of its signer.
 * @param wanted values of Fulcio's extensions by name, as cosign and Fulcio write it, or by object identifier
 * @throws SignatureProblem when it is another one
 */
export function checkIdentity(
  certificate: Certificate,
  fits: Fits,
  wanted: Readonly<Record<string, string>> | undefined,
): void {
  const { issuer = "", names, text } = identityIn(certificate);
  const subjects = names.flatMap(({ tag, value }) =>
    TEXT_NAMES.has(tag) ? [value.toString("utf8")] : tag === 0 ? userName(value) : [],
  );
  if (!fits(subjects, issuer)) {
    const [subject, by] = [subjects.join(", "), issuer].map((text) => JSON.stringify(text.slice(0, MAX_SHOWN)));
    throw new SignatureProblem(`its signer ${subject} of issuer ${by} is none of the wanted identities`);
  }
  for (const [name, value] of Object.entries(wanted ?? {})) {
    const shown = JSON.stringify(name.slice(0, MAX_SHOWN));
    const index = EXTENSIONS.indexOf(name.toLowerCase());
    const number = index === -1 ? Number(name.startsWith(`${FULCIO}.`) && name.slice(FULCIO.length + 1)) : index + 1;
    if (EXTENSIONS[number - 1] === undefined || name === "-")
      throw new SignatureProblem(`${shown} is not a known extension of certificates`);
    if (text(number) !== value)
      throw new SignatureProblem(`its certificate has another value in the extension ${shown}`);
  }
}

/** The identity in a certificate of Fulcio: the current issuer or the former one, the names, and the texts of extensions by number. */
interface Identity {
  readonly issuer: string | undefined;
  readonly names: readonly GeneralName[];
  readonly text: (number: number) => string | undefined;
}

/** @throws SignatureProblem or CertificateProblem when it can't be read */
export function identityIn({ extensions: { subjectAltName = NO_NAMES }, extensionList }: Certificate): Identity {
  if (subjectAltName.length > MAX_NAMES) throw new SignatureProblem("its certificate has too long names");
  const list = extensionsOf(extensionList);
  const found = new Map(list.map(({ id, value }) => [id.join("."), value]));
  if (found.size !== list.length) throw new SignatureProblem("its certificate has an extension twice");
  const text = (number: number): string | undefined => {
    const value = found.get(`${FULCIO}.${number}`);
    if (value === undefined || number <= LAST_PLAIN) return value?.toString("utf8");
    return readAll(value, (reader) => reader.expect(TAG.utf8String)).toString("utf8");
  };
  return { issuer: text(8) ?? text(1), names: generalNames(subjectAltName), text };
}

/** The name of a user without a mail address, as Fulcio writes it. */
function userName(value: Buffer): readonly string[] {
  const reader = new DerReader(value);
  if (identifierOf(reader.expect(TAG.oid)).join(".") !== `${FULCIO}.7`) return [];
  return [new DerReader(tagged(reader, 0) ?? Buffer.alloc(0)).expect(TAG.utf8String).toString("utf8")];
}
