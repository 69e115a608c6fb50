/** The keys of an Extism manifest (Extism 1.x). */
import type { Path } from "../documents/problem.js";
import { pairOf, type SourceNode } from "../documents/source-node.js";
import { hostPattern } from "../entry-fields.js";
import type { ProblemSink } from "../problem-sink.js";
import { type Fields, type Hints, optional, type RecordValue, record } from "../record-shape.js";
import { integer, listOf, mapOf, type Shape, text } from "../shape.js";

/** Most pages that 32-bit addresses reach. */
const MAX_PAGES = 65_536;
/** Limits that keep numbers exact; values beyond this server's own limits are cut to them. */
const MAX_BYTES = 2 ** 40;
/** Longest time-out: a day. */
const MAX_TIMEOUT_MS = 86_400_000;

/**
 * A record whose keys may be written `like_this`, as in Extism's documentation, or `likeThis`, as in its SDK for JavaScript.
 * @param fields the fields by the first spelling
 */
export function inBothSpellings<F extends Fields>(fields: F, hints: Hints = {}): Shape<RecordValue<F>> {
  const camel = new Map(
    Object.keys(fields).map((key) => [key, key.replace(/_(.)/g, (_, c: string) => c.toUpperCase())]),
  );
  const { label, schema } = record(fields, hints);
  return {
    label,
    schema,
    read(node, path, sink) {
      const written = new Map<string, string>();
      for (const [key, other] of camel) {
        const isOther = other !== key && node.kind === "map" && pairOf(node, other) !== undefined;
        if (isOther && pairOf(node, key) !== undefined) {
          sink.keyError([...path, other], `"${other}" is another name for "${key}": write only one of them`);
          return undefined;
        }
        written.set(key, isOther ? other : key);
      }
      const named = Object.fromEntries(Object.entries(fields).map(([key, field]) => [written.get(key) ?? key, field]));
      const read: Readonly<Record<string, unknown>> | undefined = record(named, hints).read(node, path, sink);
      if (read === undefined) return undefined;
      const value: [string, unknown][] = [];
      for (const [key, name] of written) if (Object.hasOwn(read, name)) value.push([key, read[name]]);
      return Object.freeze(Object.fromEntries(value)) as RecordValue<F>;
    },
  };
}

/** A digest. */
const sha256: Shape<string> = {
  label: "SHA-256 in hexadecimal digits",
  schema: { type: "string", pattern: "^[0-9a-fA-F]{64}$" },
  read(node, path, sink) {
    const digits = text("a SHA-256 of 64 hexadecimal digits").read(node, path, sink);
    if (digits === undefined || /^[\da-f]{64}$/i.test(digits)) return digits?.toLowerCase();
    sink.error(path, `expected a SHA-256 of 64 hexadecimal digits, found ${JSON.stringify(digits)}`);
    return undefined;
  },
};

/** Bytes as base64. */
const base64: Shape<Uint8Array> = {
  label: "bytes as base64",
  schema: { type: "string" },
  read(node, path, sink) {
    const encoded = text("a module as base64").read(node, path, sink);
    if (encoded === undefined) return undefined;
    if (/^[A-Za-z\d+/]*={0,2}$/.test(encoded)) return Buffer.from(encoded, "base64");
    sink.error(path, "is not base64: expected a module as base64");
    return undefined;
  },
};

/** An empty map: there are no files. */
const noPaths: Shape<null> = {
  label: "nothing",
  schema: {},
  read(node: SourceNode, path: Path, sink: ProblemSink) {
    if (node.kind === "map" && node.pairs.length === 0) return null;
    sink.keyError(
      path,
      "policies have no files, so nothing can be mounted: remove it, and give the plugin what it reads there as config or in the entry's settings",
    );
    return undefined;
  },
};

const NO_REQUEST = "modules are fetched as those of policies.yaml are, see docs/modules.md";

const item = inBothSpellings(
  {
    path: optional(text("the path of a module"), "A file, relative to the manifest's folder."),
    url: optional(text("the address of a module"), "An address as `module` in policies.yaml has it, with its scheme."),
    data: optional(base64, "The module itself."),
    hash: optional(sha256, "What the module's bytes must come to."),
    name: optional(text("a name"), "By which others import from it; `main` is the one that is called."),
  },
  { headers: NO_REQUEST, method: NO_REQUEST },
);

const memory = inBothSpellings({
  max_pages: optional(integer(1, MAX_PAGES), "Most pages of 64 KiB of each module's memory, and of the blocks."),
  max_http_response_bytes: optional(integer(1, MAX_BYTES), "Most bytes of an answer's body."),
  max_var_bytes: optional(integer(0, MAX_BYTES), "Most bytes of all variables; 0: there are none."),
});

const FIELDS = {
  wasm: optional(listOf(item), "The modules."),
  memory: optional(memory, "Limits."),
  config: optional(mapOf(text("a string", { mayBeEmpty: true })), "What `config_get` finds."),
  allowed_hosts: optional(listOf(hostPattern), "Hosts that may be asked by HTTP."),
  allowed_paths: optional(noPaths, "Refused."),
  timeout_ms: optional(integer(1, MAX_TIMEOUT_MS), "Time of a call in milliseconds."),
};

/** A manifest. */
export const manifestShape = inBothSpellings(FIELDS, {
  timeout: 'write "timeout_ms", in milliseconds',
  max_pages: "it belongs under memory",
  maxPages: "it belongs under memory",
  settings: "they belong to the entry in policies.yaml; a plugin's own configuration is config",
});
export type ManifestFields = RecordValue<typeof FIELDS>;
