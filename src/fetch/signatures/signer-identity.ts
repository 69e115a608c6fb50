/** The identity in a certificate of Fulcio, and the patterns that it must fit (spec kyverno.md 9). */
import type { SignerPattern } from "./attestor.js";
import type { Read } from "./certificate-chain.js";
import { SignatureProblem } from "./statement.js";

/** The arc of Fulcio's extensions. */
const FULCIO = "1.3.6.1.4.1.57264.1";
const SUBJECT_ALT_NAME = "2.5.29.17";
/** The kinds of alternative names that are texts: mail address, host, URI. */
const TEXT_NAMES: ReadonlySet<number> = new Set([1, 2, 6]);
/** The name in certificates of Fulcio for users without mail addresses. */
const USER_NAME = `${FULCIO}.7`;
/** Extensions up to this one are plain texts, later ones are in DER. */
const LAST_PLAIN = 6;
/** Names of Fulcio's extensions, by their last number. */
const EXTENSIONS: readonly (readonly [number, string])[] = [
  [1, "oidcIssuer"],
  [2, "githubWorkflowTrigger"],
  [3, "githubWorkflowSha"],
  [4, "githubWorkflowName"],
  [5, "githubWorkflowRepository"],
  [6, "githubWorkflowRef"],
  [8, "issuer"],
  [9, "buildSignerURI"],
  [10, "buildSignerDigest"],
  [11, "runnerEnvironment"],
  [12, "sourceRepositoryURI"],
  [13, "sourceRepositoryDigest"],
  [14, "sourceRepositoryRef"],
  [15, "sourceRepositoryIdentifier"],
  [16, "sourceRepositoryOwnerURI"],
  [17, "sourceRepositoryOwnerIdentifier"],
  [18, "buildConfigURI"],
  [19, "buildConfigDigest"],
  [20, "buildTrigger"],
  [21, "runInvocationURI"],
  [22, "sourceRepositoryVisibilityAtSigning"],
];
/** Their numbers, by name without case (`githubWorkflowSHA`) and by object identifier. */
const NUMBERS: ReadonlyMap<string, number> = new Map(
  EXTENSIONS.flatMap(([number, name]) => [
    [name.toLowerCase(), number],
    [`${FULCIO}.${number}`, number],
  ]),
);
/** Most characters of a pattern, with its repetitions written out. */
const MAX_PATTERN = 10_000;
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
 * @param extensions the wanted values of Fulcio's extensions
 * @throws SignatureProblem when it is another one
 */
export function checkIdentity(
  { parsed }: Read,
  fits: Fits,
  extensions: Readonly<Record<string, string>> | undefined,
): void {
  const issuer = extensionOf(parsed, 8) ?? extensionOf(parsed, 1) ?? "";
  const names = parsed.extension(SUBJECT_ALT_NAME)?.valueObj.subs[0]?.subs ?? [];
  const texts = names.filter(({ tag }) => TEXT_NAMES.has(tag.number)).map(({ value }) => value.toString("utf8"));
  const user = parsed.extSubjectAltName?.otherName(USER_NAME);
  const subjects = user === undefined ? texts : [...texts, user];
  if (!fits(subjects, issuer)) {
    const [subject, by] = [subjects.join(", "), issuer].map((text) => JSON.stringify(text.slice(0, MAX_SHOWN)));
    throw new SignatureProblem(`its signer ${subject} of issuer ${by} is none of the wanted identities`);
  }
  for (const [name, wanted] of Object.entries(extensions ?? {})) {
    const number = NUMBERS.get(name.toLowerCase());
    const shown = JSON.stringify(name.slice(0, MAX_SHOWN));
    if (number === undefined) throw new SignatureProblem(`${shown} is no extension of certificates that is known`);
    if (extensionOf(parsed, number) !== wanted)
      throw new SignatureProblem(`its certificate has another value in the extension ${shown}`);
  }
}

function extensionOf(parsed: Read["parsed"], number: number): string | undefined {
  const extension = parsed.extension(`${FULCIO}.${number}`);
  const value = number > LAST_PLAIN ? extension?.valueObj.subs[0]?.value : extension?.value;
  return value?.toString("utf8");
}
