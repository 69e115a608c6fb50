/**
 * `allowedHosts` of Extism plugins: the hosts to which they may send HTTP requests. Extism's SDK for JavaScript has minimatch's patterns; these are those of
 * them that can match the name of a host.
 */

/** The error of a refused pattern; the message says what to write. */
export class HostPatternError extends Error {
  readonly code = "host-pattern";
  override readonly name = "HostPatternError";
}

/** The hosts to which a plugin may send requests. */
export interface HostPatterns {
  /** @param hostname in the form of `URL.hostname`: in lower case, an IPv6 address in brackets, without a port */
  allows(hostname: string): boolean;
}

/** Longest pattern: the longest name of a host has 253 characters, and braces contain several. */
const MAX_LENGTH = 1024;
/** Most patterns from the braces of one. */
const MAX_ALTERNATIVES = 64;

/** One part of a pattern: any text, or one character. */
type Token = "any" | ((character: string) => boolean);

/** @throws HostPatternError */
export function parseHostPatterns(patterns: readonly string[]): HostPatterns {
  const literal = new Set(patterns.map((pattern) => pattern.toLowerCase()));
  const globs = patterns.flatMap((pattern) => globsOf(pattern.toLowerCase()));
  return { allows: (hostname) => literal.has(hostname) || globs.some((glob) => matches(glob, hostname)) };
}

function globsOf(pattern: string): readonly (readonly Token[])[] {
  if (pattern === "") throw new HostPatternError("must not be empty: expected a host or a pattern for hosts");
  if (pattern.length > MAX_LENGTH) throw new HostPatternError(`is longer than ${MAX_LENGTH} characters`);
  const said = JSON.stringify(pattern);
  if (pattern.includes("/")) throw new HostPatternError(`${said} is not a host: leave out the scheme and the path`);
  // The literal form of an IPv6 address; as a pattern it would stand for one character.
  if (/^\[[\da-f:.]*:[\da-f:.]*\]$/.test(pattern)) return [];
  if (pattern.includes(":"))
    throw new HostPatternError(`${said} is not a host: leave out the port (an IPv6 address stands in brackets)`);
  if (!/^(?:[^\s!()#@+|\\]|(?<=\[)!)*$/.test(pattern))
    throw new HostPatternError(`${said} is not a pattern for hosts: it may hold *, ?, [a-z] and {a,b}`);
  return alternatives(pattern, said).map((each) => tokensOf(each, said));
}

/** A pattern without its braces, once for each choice. */
function alternatives(pattern: string, said: string): readonly string[] {
  let open: readonly string[] = [pattern];
  for (;;) {
    if (open.length > MAX_ALTERNATIVES)
      throw new HostPatternError(`the braces of ${said} stand for more than ${MAX_ALTERNATIVES} patterns`);
    const at = open.findIndex((each) => /[{}]/.test(each));
    const next = open[at];
    if (next === undefined) return open;
    const innermost = /^(.*)\{([^{}]*,[^{}]*)\}(.*)$/.exec(next);
    if (innermost === null) throw new HostPatternError(`the braces of ${said} must hold choices, as {a,b} does`);
    const [, before = "", choices = "", after = ""] = innermost;
    open = [...open.slice(0, at), ...choices.split(",").map((each) => before + each + after), ...open.slice(at + 1)];
  }
}

function tokensOf(pattern: string, said: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at] ?? "";
    if (character === "*") {
      if (tokens.at(-1) !== "any") tokens.push("any");
    } else if (character === "?") tokens.push(() => true);
    else if (character === "[") {
      const end = pattern.indexOf("]", at + 2);
      if (end === -1) throw new HostPatternError(`a bracket of ${said} is not closed`);
      tokens.push(classOf(pattern.slice(at + 1, end)));
      at = end;
    } else tokens.push((other) => other === character);
  }
  return tokens;
}

/** `abc`, `a-z`, `^0-9` or `!0-9`. */
function classOf(text: string): Token {
  const negated = /^[!^]/.test(text);
  const members = [...(negated ? text.slice(1) : text).matchAll(/(.)-(.)|(.)/g)];
  return (character) =>
    members.some(([, from, to, one]) =>
      from !== undefined && to !== undefined ? from <= character && character <= to : one === character,
    ) !== negated;
}

/** Whether a name matches, in time that is at most the product of both lengths: only the last `*` is ever tried again. A name with a dot in front never does. */
function matches(tokens: readonly Token[], name: string): boolean {
  if (name === "" || name.startsWith(".")) return false;
  let [token, at, star, from] = [0, 0, -1, 0];
  while (at < name.length) {
    const wanted = tokens[token];
    if (wanted === "any") {
      star = token++;
      from = at;
    } else if (wanted?.(name[at] ?? "")) {
      token++;
      at++;
    } else if (star !== -1) {
      token = star + 1;
      at = ++from;
    } else return false;
  }
  while (tokens[token] === "any") token++;
  return token === tokens.length;
}
