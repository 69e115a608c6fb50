/** Expressions of groups: random trees of every form that a bool can come through, with member calls at their leaves. */
import { pick, type Random } from "./random.js";

/** Makes the text of an expression of the type that its name says. */
interface Grammar {
  /** A bool. */
  readonly bool: () => string;
  /** A value that a member is asked about. */
  readonly value: () => string;
  readonly member: () => string;
}

type Form = (grammar: Grammar) => string;

/** Every form in which a bool can pass through an expression. `b` stands for any bool, `v` for any value, `m` for a member's name. */
export const BOOL_FORMS: readonly string[] = [
  "m()",
  "m(v)",
  "(b && b)",
  "(b || b)",
  "!b",
  "!!b",
  "(b ? b : b)",
  "(b == b)",
  "(b != b)",
  "(b == true)",
  "(b != false)",
  "(false == b)",
  "(b < b)",
  "(b >= b)",
  "(b in [b, b])",
  "(true in [b])",
  "!(true in [b, b])",
  "(b in {true: 1})",
  "!(b in {false: 1, true: 2})",
  "(true in {b: 1})",
  "({b: 1}.size() == 1)",
  "({true: b, false: b}[b])",
  "[b, b][0]",
  "[b, b][b ? 0 : 1]",
  "([b, b] == [b, b])",
  "([b] != [b])",
  "({'k': b} == {'k': b})",
  "{'k': b}.k",
  "{'k': b}['k']",
  "has({'k': b}.k)",
  "!has({'k': b}.j)",
  "[b, b].all(x, x)",
  "[b, b].exists(x, x)",
  "[b, b].exists_one(x, x)",
  "(![b, b].exists(x, !x))",
  "([b, b].filter(x, x).size() == 1)",
  "([b, b].map(x, !x) == [b, b])",
  "([1, 2].map(x, b).size() == 2)",
  "([b, b].map(x, x, !x).size() == 0)",
  "[1, 2].all(x, b)",
  "[1, 2].exists(x, b)",
  "[].all(x, b)",
  "![].exists(x, b)",
  "{'k': b}.all(k, b)",
  "[b, b].all(i, x, x || i > 0)",
  "[b, b].exists(i, x, x && i == 0)",
  "([b, b].transformList(i, x, !x)[0])",
  "({'k': b}.transformMap(k, x, !x).k)",
  "(size([b, b]) == 2)",
  "optional.of(b).orValue(b)",
  "optional.of(b).hasValue()",
  "optional.ofNonZeroValue(b).hasValue()",
  "!optional.ofNonZeroValue(b).hasValue()",
  "optional.none().or(optional.of(b)).value()",
  "optional.of(b).optMap(x, !x).value()",
  "(optional.of(b).optFlatMap(x, optional.of(!x)) == optional.of(b))",
  "{'k': b}.?k.orValue(b)",
  "{'k': b}[?'j'].orValue(b)",
  "([?optional.of(b), b][0])",
  "({?'k': optional.of(b)}.size() == 1)",
  "bool(string(b))",
  "(string(b) == 'true')",
  "(string(b) != 'false')",
  "string(b).startsWith('t')",
  "!string(b).contains('r')",
  "!string(b).matches('^t')",
  "((string(b) + string(b)).size() > 8)",
  "('%s'.format([b]) == 'true')",
  "(dyn(b) ? b : b)",
  "(dyn(b) == b)",
  "!(dyn(b) == 'x')",
  "(dyn([b])[0] == true)",
  "(type(b) == bool)",
  "(type(b) == type(b))",
  "!(type(dyn(b)) == string)",
  "((b ? 1 : 0) == 1)",
  "((b ? 0 : 1) < 1)",
  "(1 / (b ? 1 : 0) == 1)",
  "((b ? 'a' : 'b') in ['a', 'c'])",
  "([b, b].indexOf(true) >= 0)",
  "([b].isSorted())",
  "sets.contains([true, false], [b])",
  "!sets.intersects([b], [true])",
  "sets.equivalent([b], [b])",
  "object.items.all(x, m(x))",
  "object.items.exists(x, m(x))",
  "!object.items.exists(x, m(x))",
  "object.items.exists_one(x, !m(x))",
  "(object.items.filter(x, m(x)).size() == 0)",
  "(object.items.map(x, m(x)) == [b, b])",
  "object.items.all(x, m({'x': x, 'k': dyn(b)}))",
  "(has(object.nope) && b)",
  "(!has(object.nope) && b)",
  "(has(object.flag) ? b : b)",
  "(object == null || m(object))",
  "(oldObject == null ? b : !m(oldObject))",
  "(object.flag == b)",
  "(object.nope.x == 1 || b)",
  "(object.nope.x == 1 && b)",
  "(request.operation == 'CREATE' ? b : b)",
  "(request == null || b)",
  "(1 / 0 == 1 || b)",
  "([true][5] && b)",
  "true",
  "false",
];

/** What members are asked about. */
export const VALUE_FORMS: readonly string[] = [
  "object",
  "oldObject",
  "null",
  "dyn(null)",
  "object.part",
  "object.?part.orValue(null)",
  "object.items[0]",
  "object.items",
  "object.nope",
  "request",
  "1",
  "'x'",
  "[dyn(1), null]",
  "{'kind': 'Pod', 'apiVersion': 'v1'}",
  "{'k': object}",
  "(b ? object : oldObject)",
  "(b ? object : null)",
  "dyn(b)",
  "[b]",
  "{'k': b}",
  "optional.of(b)",
  "duration('1s')",
  "1.0 / 0.0",
];

/** A form as a function: its letters are replaced, its other words stay. */
function formOf(text: string): Form {
  const parts = text.split(/(?<![\w'.])([bmv])(?![\w'])/);
  return (grammar) =>
    parts
      .map((part, index) => {
        if (index % 2 === 0) return part;
        if (part === "b") return grammar.bool();
        return part === "v" ? grammar.value() : grammar.member();
      })
      .join("");
}

const BOOLS = BOOL_FORMS.map(formOf);
const VALUES = VALUE_FORMS.map(formOf);
const CALLS = BOOLS.slice(0, 2);
const CONNECTIVES = BOOLS.slice(2, 7);

/**
 * A random expression.
 * @param members the names that it may call
 * @param first the form at its root, by number; any when it is absent
 */
export function expression(next: Random, members: readonly string[], first?: number): string {
  let room = 10;
  const grammarAt = (depth: number): Grammar => ({
    member: () => pick(next, members),
    bool: () => bool(depth + 1),
    value: () => pick(next, VALUES)(grammarAt(depth + 1)),
  });
  const bool = (depth: number): string => {
    room -= 1;
    if (depth > 4 || room < 0) return pick(next, CALLS.slice(0, 1))(grammarAt(depth));
    const kind = next(10);
    const forms = kind < 2 + depth ? CALLS : kind < 6 ? CONNECTIVES : BOOLS;
    return pick(next, forms)(grammarAt(depth));
  };
  const root = first === undefined ? undefined : BOOLS[first % BOOLS.length];
  return root === undefined ? bool(0) : root(grammarAt(0));
}
