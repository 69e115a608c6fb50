/** Recognises credentials: by the name of a value, or by the value itself. */
import { namedValues } from "./named-values.js";

/** Endings of names. */
const WORDS =
  /(?:passwords?|passwd|passphrase|passcode|secret|token|credentials?|apikey|accesskey|secretkey|privatekey|dockerconfigjson|dockercfg)$/;
/** Last words that count only as whole words. */
const WHOLE = new Set(["pwd", "pass", "authorization", "cookie", "jwt", "bearer", "dsn", "kubeconfig"]);
/** Words behind the name that give its form, or number it: `passwordHash`, `token_value`, `DB_PASSWORD_2`. */
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
/** Characters of a name that are read, from its end: a longer one is a text. */
const NAME_CHARACTERS = 128;
/** Names that are kept: the same few fields stand in all objects. */
const REMEMBERED = 2000;

/**
 * Texts that are credentials in any place. Every repetition is bounded or ends at the first other character: texts are as long as requests, and
 * requesters choose them.
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
    // Ends at the next slash, and each match begins behind one: no text is read twice. A user without a password is a token where it is long.
    /:\/\/[^\s/:@]*:[^\s/@]+@|:\/\/[^\s/:@]{20,}@/,
    /^[ \t-]*kind:[ \t]*["']?Secret\b/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "im",
);
/** Values that are not credentials: hiding them would hide nothing. */
const NO_VALUE = /^(?:true|false|null|~|\[?redacted\]?|\$\([^()]*\)|\$\{[^{}]*\}|\{\{[^{}]*\}\})?$/;
/** Words of which every name of a credential contains one, or an escape for one of their letters. */
const MAY_NAME =
  /pass|pwd|secret|token|credential|key|docker|authorization|cookie|jwt|bearer|dsn|kubeconfig|string|\\/i;
/** Length of the shortest credential that is recognised by its form. */
const SHORTEST = 8;

/** Recognises credentials; keeps names. */
export class Credentials {
  readonly #names = new Map<string, boolean>();

  /** Whether the value of this name is to be kept secret: `password`, `DB_PASSWORD`, `clientSecret`, `api-key`. */
  isName(name: string): boolean {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    const found = namesCredential(name);
    if (this.#names.size >= REMEMBERED) this.#names.clear();
    if (name.length <= NAME_CHARACTERS) this.#names.set(name, found);
    return found;
  }

  /** Whether a text may contain a name of that kind, in whatever form. */
  mayName(text: string): boolean {
    return text.length >= SHORTEST && MAY_NAME.test(text);
  }

  /** Whether a text is a credential, or contains one: a private key, a token of a known form, an address with a password. */
  isText(text: string): boolean {
    return text.length >= SHORTEST && TEXTS.test(text);
  }

  /**
   * A text with `replacement` for the values of names of credentials: a configuration file, a command for a shell.
   * @param found receives each value
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
