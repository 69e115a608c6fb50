/** What looks like a credential: by the name that it stands under, or by itself. */

/** Names that end in one of these words. */
const WORDS =
  /(?:password|passwd|passphrase|passcode|secret|token|credentials?|apikey|accesskey|secretkey|privatekey|dockerconfigjson|dockercfg)$/;
/** Last words that are whole. */
const WHOLE = new Set(["pwd", "pass", "authorization", "cookie", "jwt", "bearer"]);
/** Last two words. */
const PAIRS =
  /(?:^| )(?:api|access|secret|private|signing|encryption|tls|auth|shared|client|master) key$|(?:^| )connection string$/;
/** Characters of a name that are looked at, from its end: who writes longer ones means a text. */
const NAME_CHARACTERS = 128;
/** Names that are remembered: the same few fields stand in all objects. */
const REMEMBERED = 2000;

/**
 * Texts that are credentials wherever they stand. Every repetition is bounded or ends at its first stranger: texts are as long as requests, and
 * whoever sends them chooses them.
 */
const TEXTS =
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY|\bbearer [\w.~+/-]{8}|\bbasic [a-z0-9+/]{16}|\beyJ[\w-]{16}|\bgh[pousr]_\w{16}|\bgithub_pat_\w{8}|\bglpat-[\w-]{8}|\bxox[abps]-[\w-]{8}|\b(?:AKIA|ASIA)[0-9A-Z]{12}|\bsk_live_\w{8}|:\/\/[^\s/:@]{0,100}:[^\s/@]{1,100}@/i;
/** No credential that is known by its look is shorter. */
const SHORTEST = 8;

/** Tells credentials from the rest; remembers names. */
export class Credentials {
  readonly #names = new Map<string, boolean>();

  /** Whether what stands under this name is to be kept secret: `password`, `DB_PASSWORD`, `clientSecret`, `api-key`. */
  isName(name: string): boolean {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    const found = namesCredential(name);
    if (this.#names.size >= REMEMBERED) this.#names.clear();
    if (name.length <= NAME_CHARACTERS) this.#names.set(name, found);
    return found;
  }

  /** Whether a text is a credential, or holds one: a private key, a token of a known form, an address with a password. */
  isText(text: string): boolean {
    return text.length >= SHORTEST && TEXTS.test(text);
  }
}

function namesCredential(name: string): boolean {
  const words = name
    .slice(-NAME_CHARACTERS)
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
  const last = words.at(-1) ?? "";
  return WORDS.test(last) || WHOLE.has(last) || PAIRS.test(words.slice(-2).join(" "));
}
