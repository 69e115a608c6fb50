/**
 * Renders the part of Helm's template language that our chart uses, so that its manifests are checked without Helm: fields, `if`, `with`, `range`,
 * `define`, `include`, pipelines of a few functions, and trimming of white space. Anything else is an error.
 */
import { stringify } from "yaml";

type Value = unknown;
type Scope = { readonly dot: Value; readonly root: Value };

interface Action {
  readonly kind: "action";
  readonly text: string;
}

type Node =
  | { readonly kind: "text"; readonly text: string }
  | Action
  | {
      readonly kind: "block";
      readonly head: string;
      readonly body: readonly Node[];
      readonly otherwise: readonly Node[];
    };

/** Templates that may include each other's definitions. */
export class GoTemplates {
  readonly #definitions = new Map<string, readonly Node[]>();

  /** Takes the definitions of a file and gives back what it renders besides. */
  render(source: string, root: Value): string {
    return this.#renderAll(this.#parse(source), { dot: root, root });
  }

  #parse(source: string): Node[] {
    const tokens: (string | Action)[] = [];
    let at = 0;
    let trimNext = false;
    for (const match of source.matchAll(/\{\{(-?)\s*(.*?)\s*(-?)\}\}/gs)) {
      const [whole, trimBefore, text = "", trimAfter] = match;
      let before = source.slice(at, match.index);
      if (trimNext) before = before.trimStart();
      if (trimBefore === "-") before = before.trimEnd();
      tokens.push(before, { kind: "action", text });
      trimNext = trimAfter === "-";
      at = match.index + whole.length;
    }
    const rest = source.slice(at);
    tokens.push(trimNext ? rest.trimStart() : rest);
    return this.#nodes(tokens, 0)[0];
  }

  #nodes(tokens: readonly (string | Action)[], from: number): [Node[], number] {
    const nodes: Node[] = [];
    for (let at = from; at < tokens.length; at++) {
      const token = tokens[at];
      if (token === undefined) break;
      if (typeof token === "string") nodes.push({ kind: "text", text: token });
      else if (token.text === "end" || token.text === "else") return [nodes, at];
      else if (/^(if|with|range|define)\s/.test(token.text)) {
        const [body, middle] = this.#nodes(tokens, at + 1);
        const stop = tokens[middle];
        const [otherwise, end] =
          typeof stop === "object" && stop.text === "else" ? this.#nodes(tokens, middle + 1) : [[], middle];
        if (token.text.startsWith("define")) this.#definitions.set(String(JSON.parse(token.text.slice(6))), body);
        else nodes.push({ kind: "block", head: token.text, body, otherwise });
        at = end;
      } else nodes.push(token);
    }
    return [nodes, tokens.length];
  }

  #renderAll(nodes: readonly Node[], scope: Scope): string {
    return nodes.map((node) => this.#render(node, scope)).join("");
  }

  #render(node: Node, scope: Scope): string {
    if (node.kind === "text") return node.text;
    if (node.kind === "action") {
      const value = this.#pipeline(node.text, scope);
      return value === undefined || value === null ? "" : String(value);
    }
    const [keyword = "", ...rest] = node.head.split(/\s+/);
    const value = this.#pipeline(rest.join(" "), scope);
    if (!truthy(value)) return this.#renderAll(node.otherwise, scope);
    if (keyword === "range") {
      return (value as readonly Value[]).map((dot) => this.#renderAll(node.body, { ...scope, dot })).join("");
    }
    return this.#renderAll(node.body, keyword === "with" ? { ...scope, dot: value } : scope);
  }

  #pipeline(text: string, scope: Scope): Value {
    let piped: Value[] = [];
    for (const stage of text.split("|")) {
      const words = stage.trim().match(/"(?:[^"\\]|\\.)*"|\S+/g) ?? [];
      piped = [this.#call(words, piped, scope)];
    }
    return piped[0];
  }

  #call([name = "", ...words]: readonly string[], piped: readonly Value[], scope: Scope): Value {
    const args = [...words.map((word) => this.#operand(word, scope)), ...piped];
    switch (name) {
      case "toYaml":
        return stringify(args[0], { lineWidth: 0 }).trimEnd();
      case "nindent":
        return `\n${String(args[1]).replace(/^/gm, " ".repeat(Number(args[0])))}`;
      case "quote":
        return JSON.stringify(String(args[0]));
      case "default":
        return truthy(args[1]) ? args[1] : args[0];
      case "not":
        return !truthy(args[0]);
      case "kindIs":
        return typeof args[1] === args[0];
      case "include": {
        const definition = this.#definitions.get(String(args[0]));
        if (definition === undefined) throw new Error(`no template ${String(args[0])}`);
        return this.#renderAll(definition, { dot: args[1], root: args[1] }).trim();
      }
      default:
        if (args.length > 0) throw new Error(`unknown function ${name}`);
        return this.#operand(name, scope);
    }
  }

  #operand(word: string, { dot, root }: Scope): Value {
    if (word.startsWith('"')) return JSON.parse(word);
    if (/^\d+$/.test(word)) return Number(word);
    if (word === ".") return dot;
    if (word === "$") return root;
    if (!/^\$?(\.\w+)+$/.test(word)) throw new Error(`unknown operand ${word}`);
    const from = word.startsWith("$") ? root : dot;
    const steps = word.replace("$", "").slice(1).split(".");
    return steps.reduce<Value>((value, step) => (value as Record<string, Value> | undefined)?.[step], from);
  }
}

/** Go's idea of emptiness. */
function truthy(value: Value): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === "object" && value !== null) return Object.keys(value).length > 0;
  return Boolean(value);
}
