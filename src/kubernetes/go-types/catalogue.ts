import { readFileSync } from "node:fs";
import { type GoMember, type GoSpecial, type GoStruct, type GoType, SPECIAL } from "./go-type.js";

/** Relative to the compiled file; made by scripts/go-types from the published Go types. */
const FILE = new URL("../../../../data/kubernetes-go-types.json", import.meta.url);

/** A type: a name (one of Go's own), or its kind, its name and its parts; types within it are numbers. */
type WrittenType = string | readonly [kind: string, ...rest: readonly unknown[]];

interface Written {
  /** The number of each kind's struct, by `apiVersion/Kind`. */
  readonly kinds: Readonly<Record<string, number>>;
  readonly types: readonly WrittenType[];
}

/** Flags of a member. */
const OMIT_EMPTY = 1;
const OMIT_ZERO = 2;
/** A member is written as its place, the number of its type, and its flags. */
const MEMBER_PARTS = 3;

/** The Go types of the built-in kinds. The file is read when the first type is needed, and only the types that a kind uses are made. */
export class GoTypes {
  #written: Written | undefined;
  readonly #types: (GoType | undefined)[] = [];

  /** The struct of a built-in kind; `undefined` for any other. */
  ofKind(apiVersion: string, kind: string): GoStruct | undefined {
    this.#written ??= JSON.parse(readFileSync(FILE, "utf8")) as Written;
    const key = `${apiVersion}/${kind}`;
    if (!Object.hasOwn(this.#written.kinds, key)) return undefined;
    const type = this.#type(this.#written, this.#written.kinds[key]);
    return type.kind === "struct" ? type : undefined;
  }

  /** All kinds, as `apiVersion/Kind`. */
  kinds(): readonly string[] {
    this.#written ??= JSON.parse(readFileSync(FILE, "utf8")) as Written;
    return Object.keys(this.#written.kinds);
  }

  #type(written: Written, at: unknown): GoType {
    const number = Number(at);
    const known = this.#types[number];
    if (known !== undefined) return known;
    const [kind, go = kind, of] = parts(written.types[number]);
    if (kind === "struct") {
      const members = new Map<string, GoMember>();
      const struct: GoStruct = { kind, go: String(go), members };
      // A struct may contain itself: it is registered before its members are made.
      this.#types[number] = struct;
      this.#addMembers(written, of, members);
      return struct;
    }
    const type = this.#simple(written, kind, go, of);
    this.#types[number] = type;
    return type;
  }

  #simple(written: Written, kind: string, go: unknown, of: unknown): GoType {
    switch (kind) {
      case "pointer": {
        const element = this.#type(written, go);
        return { kind, go: element.go, element };
      }
      case "slice":
        return { kind: "list", go: String(go), element: this.#type(written, of) };
      case "map":
        return { kind, go: String(go), element: this.#type(written, of) };
      case "string":
      case "bool":
      case "bytes":
        return { kind, go: String(go) };
      default:
        if (isSpecial(kind)) return { kind, go: String(go) };
        return { kind: "integer", go: String(go), bits: Number(kind.slice("int".length)) };
    }
  }

  #addMembers(written: Written, of: unknown, members: Map<string, GoMember>): void {
    const list = of as readonly (string | number)[];
    for (let i = 0; i < list.length; i += MEMBER_PARTS) {
      const place = String(list[i]);
      const flags = Number(list[i + 2]);
      const name = place.slice(place.lastIndexOf(".") + 1);
      members.set(name, {
        name,
        place,
        type: this.#type(written, list[i + 1]),
        omitEmpty: (flags & OMIT_EMPTY) !== 0,
        omitZero: (flags & OMIT_ZERO) !== 0,
      });
    }
  }
}

function parts(type: WrittenType | undefined): readonly [string, ...unknown[]] {
  if (type === undefined) throw new Error("data/kubernetes-go-types.json names a type that it does not hold");
  return typeof type === "string" ? [type] : type;
}

const isSpecial = (kind: string): kind is GoSpecial["kind"] => (SPECIAL as readonly string[]).includes(kind);
