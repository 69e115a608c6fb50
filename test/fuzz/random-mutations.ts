/** Expressions of mutations, made at random: `Object` and `JSONPatch`, dyn, optionals, variables, macros, and what of requests and parameters is Go's own. */
import { pick, type Random } from "./random.js";

/** A mutation and the variables of its policy. */
export interface RandomMutation {
  readonly mutation: { readonly patchType: string; readonly [member: string]: unknown };
  readonly variables: readonly { readonly name: string; readonly expression: string }[];
}

const DEEPEST = 4;

const ATOMS = [
  "1",
  "7u",
  "1.5",
  "2.0",
  "true",
  "null",
  "'x'",
  "''",
  "b'ab'",
  "[]",
  "{}",
  "duration('90s')",
  "timestamp('2020-01-01T00:00:00Z')",
  "type(1)",
  "9007199254740993",
  "object",
  "object.spec",
  "object.metadata.labels",
  "object.metadata.name",
  "object.spec.containers",
  "object.spec.volumes",
  "object.spec.nope",
  "oldObject",
  "request.name",
  "params.data.v",
  "google.protobuf.Empty{}",
] as const;

/** What is Go's own. */
const STRUCTS = [
  "request.kind",
  "request.userInfo",
  "request.userInfo.groups",
  "request.options",
  "namespaceObject.metadata.labels",
  "params.data",
  "params.metadata",
  "request",
] as const;

/** Values whose messages hold addresses where they are shown; patches of JSON do not show them. */
const OPAQUE = ["quantity('1')", "ip('1.1.1.1')", "url('http://a/b')", "semver('1.2.3')", "authorizer"] as const;

const FIELDS = ["a", "b", "c"] as const;

class Generator {
  readonly #next: Random;
  readonly #isPatch: boolean;
  readonly #locals: string[] = [];
  /** Where others are summed up or compared: what the server says to Go's own values there is not followed in every way. */
  #bare = 0;

  constructor(next: Random, isPatch: boolean) {
    this.#next = next;
    this.#isPatch = isPatch;
  }

  /** Of a variable, where neither `Object` nor `JSONPatch` is known. */
  plain(depth: number): string {
    const next = this.#next;
    if (depth >= DEEPEST || next(4) === 0) return this.#atom();
    const inner = () => this.plain(depth + 1);
    return this.#form(next(11), inner);
  }

  /** `path`: the name of the type of the `Object` around it. */
  value(depth: number, path: string): string {
    const next = this.#next;
    if (depth >= DEEPEST || next(5) === 0)
      return next(5) === 0 && this.#bare === 0 ? `variables.${pick(next, ["v", "w"])}` : this.#atom();
    const inner = () => this.value(depth + 1, path);
    const form = next(17);
    switch (form) {
      case 11:
      case 12:
      case 13:
        return this.object(depth + 1, path);
      case 14:
        return this.#selection(depth + 1, path);
      case 15: {
        const [one, other] = this.#pair(inner);
        return pick(next, [
          "JSONPatch{op: 'add'}.op",
          "JSONPatch{op: 'x'}.value",
          "dyn(JSONPatch{path: 'x'}).path",
          `JSONPatch{value: ${inner()}}.value`,
          `string(JSONPatch{op: 'a', value: ${one}} == JSONPatch{op: 'a', value: ${other}})`,
          "jsonpatch.escapeKey('a/b~')",
        ]);
      }
      case 16:
        return `string(${this.#pair(() => this.object(depth + 1, path)).join(" == ")})`;
      default:
        return this.#form(form, inner);
    }
  }

  object(depth: number, path: string): string {
    const next = this.#next;
    const type = next(25) === 0 ? `${path}.wrong` : path;
    const fields = Array.from({ length: next(3) }, () => {
      const name = pick(next, FIELDS);
      const inner = this.value(depth + 1, `${path}.${name}`);
      switch (next(8)) {
        case 0:
          return `?${name}: optional.of(${inner})`;
        case 1:
          return `?${name}: optional.none()`;
        case 2:
          return `${name}: optional.of(${inner})`;
        default:
          return `${name}: ${inner}`;
      }
    });
    return `${type}{${fields.join(", ")}}`;
  }

  #selection(depth: number, path: string): string {
    const next = this.#next;
    const object = this.object(depth, path);
    const field = pick(next, FIELDS);
    return pick(next, [
      `${object}.${field}`,
      `${object}.${field}`,
      `string(has(${object}.${field}))`,
      `string(has(dyn(${object}).${field}))`,
      `dyn(${object}).${field}`,
      `${object}.?${field}.orValue('none')`,
      `optional.of(${object}).${field}.orValue('none')`,
      `optional.ofNonZeroValue(${object}).hasValue()`,
      `[${object}].map(o, o.${field})`,
      `[${object}][0].${field}`,
      `(object.metadata.name == 'web' ? ${object} : ${object}).${field}`,
    ]);
  }

  /** Two parts of a sum or of a comparison. */
  #pair(inner: () => string): readonly [string, string] {
    this.#bare++;
    const pair = [inner(), inner()] as const;
    this.#bare--;
    return pair;
  }

  #atom(): string {
    const next = this.#next;
    if (this.#locals.length > 0 && next(3) === 0) return pick(next, this.#locals);
    if (this.#bare > 0) return pick(next, ATOMS);
    if (this.#isPatch && next(12) === 0) return pick(next, OPAQUE);
    return next(4) === 0 ? pick(next, STRUCTS) : pick(next, ATOMS);
  }

  #form(form: number, inner: () => string): string {
    const next = this.#next;
    switch (form) {
      case 0:
        return `dyn(${inner()})`;
      case 1:
        return `[${inner()}]`;
      case 2:
        return `[dyn(${inner()}), dyn(${inner()})]`;
      case 3:
        return `{'k': ${inner()}}`;
      case 4:
        return `{${pick(next, ["1", "true", "'k'", "2u"])}: dyn(${inner()}), 'l': dyn(${inner()})}`.replace(
          /^\{('k'|1|true|2u):/,
          "{dyn($1):",
        );
      case 5:
        return this.#pair(inner)
          .map((part) => `[dyn(${part})]`)
          .join(" + ");
      case 6:
        return pick(next, [`optional.of(${inner()})`, "optional.none()", `optional.ofNonZeroValue(dyn(${inner()}))`]);
      case 7:
        return `(object.metadata.name == '${pick(next, ["web", "other"])}' ? dyn(${inner()}) : dyn(${inner()}))`;
      case 8: {
        const name = `x${this.#locals.length}`;
        const range = pick(next, ["[1, 2]", "object.spec.containers", "object.metadata.annotations", "['q']"]);
        this.#locals.push(name);
        const body = inner();
        this.#locals.pop();
        return `${range}.map(${name}, ${body})`;
      }
      case 9:
        return `object.spec.containers.filter(f, f.name != '${pick(next, ["c", "d"])}')`;
      default:
        return pick(next, [
          "object.spec.containers + object.spec.containers",
          "[] + object.spec.volumes",
          this.#pair(inner)
            .map((part) => `dyn(${part})`)
            .join(" == "),
        ]);
    }
  }
}

/** One mutation. */
export function randomMutation(next: Random): RandomMutation {
  const isPatch = next(3) > 0;
  const generator = new Generator(next, isPatch);
  const variables = ["v", "w"].map((name) => ({ name, expression: generator.plain(1) }));
  if (!isPatch) {
    const expression = `Object{metadata: Object.metadata{labels: ${pick(next, [
      generator.value(1, "Object.metadata.labels"),
      `{'x': ${generator.value(1, "Object.metadata.labels")}}`,
    ])}}}`;
    return { mutation: { patchType: "ApplyConfiguration", applyConfiguration: { expression } }, variables };
  }
  const value = next(2) === 0 ? generator.object(0, "Object.x") : generator.value(0, "Object.x");
  const expression = `[JSONPatch{op: 'add', path: '/metadata/x', value: ${value}}]`;
  return { mutation: { patchType: "JSONPatch", jsonPatch: { expression } }, variables };
}
