/** Expressions over the hostile variables: every overload of Kubernetes' environment, operators, macros, and all of them in loops. */
import type { Overload } from "../../src/cel/declarations.js";
import { functionsByName, libraries } from "../../src/cel/libraries.js";
import { formatType, type Type } from "../../src/cel/types.js";
import type { Random } from "../cel/support/mutations.js";
import { hostileVariables } from "./hostile-objects.js";

const names = (kinds: (type: Type) => boolean): readonly string[] =>
  hostileVariables.filter(({ type }) => kinds(type)).map(({ name }) => name);

const TEXTS = names((type) => type.kind === "string");
const LISTS = names((type) => type.kind === "list");
const ALL = hostileVariables.map(({ name }) => name);

/** Expressions for the kinds that no variable has. */
const MADE: Readonly<Record<string, readonly string[]>> = {
  bool: ["yes", "false"],
  int: ["one", "many", "-1"],
  uint: ["1u"],
  double: ["1.5", "1e308"],
  bytes: ["bytes(letters)", "b'abc'"],
  timestamp: ["timestamp('2024-01-01T00:00:00Z')"],
  duration: ["duration('1h')"],
  map: ["wide", "object.wide"],
  type: ["int"],
  null: ["null"],
  "kubernetes.Quantity": ["quantity('1.5Gi')", "quantity(amount)", "quantity('1e4000')"],
  "kubernetes.URL": ["url('https://user@host:1/a?b=c&b=d#e')", "url('https://h/?' + letters.substring(0, 30000))"],
  "kubernetes.Semver": ["semver('1.2.3-a.b+c')", "semver(version)"],
  "kubernetes.NamedFormat": ["format.dns1123Subdomain()", "format.uri()", "format.byte()"],
  "net.IP": ["ip('10.0.0.1')", "ip('2001:db8::1')"],
  "net.CIDR": ["cidr('10.0.0.0/8')"],
  optional_type: ["optional.of(numbers)", "optional.none()"],
};

/** What may be passed for a parameter. */
function candidates(type: Type): readonly string[] {
  if (type.kind === "string") return TEXTS;
  if (type.kind === "list") {
    const { kind } = type.element;
    const fitting = names(
      (of) => of.kind === "list" && (of.element.kind === kind || kind === "param" || kind === "dyn"),
    );
    if (kind === "param" && "name" in type.element && type.element.name === "optional_type")
      return ["[optional.of(1)]"];
    return [
      ...fitting,
      `[${candidates(type.element)[0] ?? "1"}]`,
      ...(kind === "dyn" ? ["[numbers, texts]", "[beyond]"] : []),
    ];
  }
  if (type.kind === "dyn" || type.kind === "param" || type.kind === "any") return ALL;
  const name = "name" in type && typeof type.name === "string" ? type.name : type.kind;
  return MADE[type.kind] ?? MADE[name] ?? MADE[formatType(type)] ?? [];
}

/** Calls that need an authorizer, which is asked of others. */
const isPure = ({ params }: Overload): boolean => params.every((type) => !formatType(type).includes("authorization"));

const overloads = [...functionsByName(libraries("kubernetes")).values()].flatMap(({ name, overloads: all }) =>
  /^[A-Za-z]/.test(name) && !name.includes("@") ? all.filter(isPure).map((overload) => ({ name, overload })) : [],
);

const call = (name: string, { member }: Overload, args: readonly string[]): string =>
  member ? `${args[0]}.${name}(${args.slice(1).join(", ")})` : `${name}(${args.join(", ")})`;

const OPERATORS = ["==", "!=", "<", "+", "in"];

/** What stands for `?` in a template. */
const TEMPLATES: readonly string[] = [
  "'%s %s'.format([?, ?])",
  "[?].distinct()",
  "[?, ?].sort()",
  "[?] + [?]",
  "{'a': ?, 'b': ?}",
  "{?: 1}",
  "string(?)",
  "size(?)",
  "?[?]",
  "?.exists(x, x == ?)",
  "?.filter(x, x == ?)",
  "?.map(x, [x])",
  "?.transformMap(k, v, v)",
  "?.transformList(k, v, k)",
  "?.all(k, v, k == v)",
  "?.exists_one(x, x == ?)",
  "cel.bind(x, ? + ?, x + x)",
  "cel.bind(x, ? + ?, cel.bind(y, x + x, cel.bind(z, y + y, (z + z) + (z + z))))",
  "?.sortBy(x, x)",
  "? == ? ? ? : ?",
  "optional.ofNonZeroValue(?).hasValue()",
  "type(?) == type(?)",
  "string(?) + string(?)",
  "dyn(?).matches(?)",
  "dyn(?).find(?)",
  "? == [?] || [?] == [?]",
  "{'a': ?} == {'a': ?}",
];

const LOOPS: readonly ((body: string) => string)[] = [
  (body) => body,
  (body) => `numbers.all(i, [${body}].size() == 1)`,
  (body) => `wide.exists(k, [${body}].size() == 2)`,
  (body) => `wide.all(k, v, [${body}].size() == 1)`,
  (body) => `texts.filter(t, [${body}].size() == 2).size() == 0`,
  (body) => `numbers.all(i, texts.all(j, [${body}].size() == 1))`,
  (body) => `few.map(m, ${body}).size() > 0`,
  (body) => `[${Array.from({ length: 40 }, () => body).join(", ")}].size() == 40`,
];

/** Loops that the bounded test tries each call in: alone, and often. */
const MAIN_LOOPS = LOOPS.slice(0, 2);

const fill = (template: string, next: () => string): string => template.replaceAll("?", next);

/** Every overload with its first candidates, every operator and template with the variables in turn: the same list in every run. */
export function* constructedExpressions(): Generator<string> {
  let turn = 0;
  for (const { name, overload } of overloads) {
    const choices = overload.params.map(candidates);
    const rounds = Math.min(Math.max(1, ...choices.map(({ length }) => length)), 6);
    for (let round = 0; round < rounds; round++) {
      turn += 1;
      const args = choices.map((choice, index) => choice[(round + turn * 5 * index) % choice.length] ?? "1");
      for (const loop of MAIN_LOOPS) yield loop(call(name, overload, args));
    }
  }
  for (const [index, left] of ALL.entries()) {
    for (const operator of OPERATORS) {
      for (const right of [left, ALL[(index + 1) % ALL.length] as string]) {
        yield `numbers.all(i, [dyn(${left}) ${operator} dyn(${right})].size() == 1)`;
      }
    }
    for (const template of TEMPLATES) {
      let offset = 0;
      const body = fill(template, () => `dyn(${ALL[(index + offset++) % ALL.length]})`);
      yield (MAIN_LOOPS[index % 2] as (body: string) => string)(body);
    }
  }
}

/** One expression by chance. */
export function randomExpression(random: Random): string {
  const pick = <T>(from: readonly T[]): T => from[random.below(from.length)] as T;
  const variable = (): string =>
    random.below(2) === 0 ? `dyn(${pick(ALL)})` : pick(random.below(2) === 0 ? TEXTS : LISTS);
  const expression = (depth: number): string => {
    const kind = random.below(10);
    if (depth === 0) return variable();
    if (kind < 5) {
      const { name, overload } = pick(overloads);
      const args = overload.params.map((type) =>
        random.below(8) === 0 ? expression(depth - 1) : (pick(candidates(type)) ?? "1"),
      );
      return call(name, overload, args);
    }
    if (kind < 7) return `(${expression(depth - 1)} ${pick(OPERATORS)} ${expression(depth - 1)})`;
    return fill(pick(TEMPLATES), () => expression(depth - 1));
  };
  return pick(LOOPS)(expression(2));
}
