/** What looks like a credential: by the name that it stands under, or by itself. */
import { namedValues } from "./named-values.js";

/** Names that end in one of these words. */
const WORDS =
  /(?:passwords?|passwd|passphrase|passcode|secret|token|credentials?|apikey|accesskey|secretkey|privatekey|dockerconfigjson|dockercfg)$/;
/** Last words that are whole. */
const WHOLE = new Set(["pwd", "pass", "authorization", "cookie", "jwt", "bearer", "dsn", "kubeconfig"]);
/** Words behind the name that say how it is written, or which of several it is: `passwordHash`, `token_value`, `DB_PASSWORD_2`. */
const BEHIND = new Set([
  "value",
  "hash",
  "base64",
  "b64",
  "txt",
  "text",
  "plain",
  "plaintext",
  "encoded",
  "old",
  "new",
]);
/** Last two words. */
const PAIRS =
  /(?:^| )(?:api|access|secret|private|signing|encryption|tls|auth|shared|client|master|ssh|account) key$|(?:^| )connection string$/;
/** Characters of a name that are looked at, from its end: who writes longer ones means a text. */
const NAME_CHARACTERS = 128;
/** Names that are remembered: the same few fields stand in all objects. */
const REMEMBERED = 2000;

/**
 * Texts that are credentials wherever they stand. Every repetition is bounded or ends at its first stranger: texts are as long as requests, and
 * whoever sends them chooses them.
 */
const TEXTS = new RegExp(
  [
    /-----BEGIN [A-Z ]{0,30}PRIVATE KEY/,
    // The same in base64: RSA, EC, DSA, OPENSSH, ENCRYPTED and no kind, but neither certificates nor public keys.
    /LS0tLS1CRUdJTi(?:BSU0|BFQy|BEU0|BPUEVO|BFTkNS|BQUklW)/,
    /\bbearer [\w.~+/-]{8}|\bbasic [a-z0-9+/]{16}/,
    /\beyJ[\w-]{16}/,
    /\bgh[pousr]_\w{16}|\bgithub_pat_\w{8}|\bglpat-[\w-]{8}|\bxox[abeps]-[\w-]{8}|\bxapp-[\w-]{8}/,
    /\b(?:AKIA|ASIA)[0-9A-Z]{12}|\b[rs]k_live_\w{8}|\bAIza[\w-]{30}|\bhvs\.\w{16}|\bnpm_\w{30}|\bAGE-SECRET-KEY-/,
    // Ends at the next slash, and each begins behind one: no text is looked at twice. A user without a password is a token where it is long.
    /:\/\/[^\s/:@]*:[^\s/@]+@|:\/\/[^\s/:@]{20,}@/,
    /^[ \t-]*kind:[ \t]*["']?Secret\b/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "im",
);
/** Values that are none: nothing is hidden by hiding them. */
const NO_VALUE = /^(?:true|false|null|~|\[?redacted\]?|\$\([^()]*\)|\$\{[^{}]*\}|\{\{[^{}]*\}\})?$/;
/** Words that every name of a credential has in it, or an escape for one of their letters. */
const MAY_NAME =
  /pass|pwd|secret|token|credential|key|docker|authorization|cookie|jwt|bearer|dsn|kubeconfig|string|\\/i;
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

  /** Whether a text may hold a name of that kind, in whatever form. */
  mayName(text: string): boolean {
    return text.length >= SHORTEST && MAY_NAME.test(text);
  }

  /** Whether a text is a credential, or holds one: a private key, a token of a known form, an address with a password. */
  isText(text: string): boolean {
    return text.length >= SHORTEST && TEXTS.test(text);
  }

  /**
   * A text with `replacement` for the values of names that are those of credentials: a configuration file, a command for a shell.
   * @param found told each value
   */
  without(text: string, replacement: string, found: (value: string) => void): string {
    if (!this.mayName(text)) return text;
    const parts: string[] = [];
    let from = 0;
    for (const [start, end] of namedValues(text, (name) => this.isName(name))) {
      const value = text.slice(start, end);
      if (NO_VALUE.test(value)) continue;
      found(value);
      parts.push(text.slice(from, start), replacement);
      from = end;
    }
    return from === 0 ? text : parts.join("") + text.slice(from);
  }
}

function namesCredential(name: string): boolean {
  const words = name
    .slice(-NAME_CHARACTERS)
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "")
    .map((word) => (BEHIND.has(word) ? "" : word.replace(/\d+$/, "")));
  while (words.length > 0 && words.at(-1) === "") words.pop();
  const last = words.at(-1) ?? "";
  return WORDS.test(last) || WHOLE.has(last) || PAIRS.test(words.slice(-2).join(" "));
}
