/** Puts values into policies of the old language: Kyverno's command gives them in place of what context entries would look up. */
import { isObject, type JsonObject, member, nameOf, text } from "../../kubernetes/object.js";
import type { OldPolicyValues } from "./circumstances.js";

/** The policy with variables in place of context entries that have values. */
export function withValues(policy: JsonObject, { global, resources, rules }: OldPolicyValues): JsonObject {
  const own = rules.get(nameOf(policy));
  const common = { ...global, ...resources.get(nameOf(policy)) };
  const spec = member(policy, "spec");
  const list = member(spec, "rules");
  if ((own === undefined && Object.keys(common).length === 0) || !isObject(spec) || !Array.isArray(list)) return policy;
  const replaced = list.map((rule: unknown): unknown => {
    const values = nested({ ...common, ...own?.get(text(rule, "name")) });
    return isObject(rule) && Object.keys(values).length > 0 ? inRule(rule, values) : rule;
  });
  return { ...policy, spec: { ...spec, rules: replaced } };
}

/** `{"a.b": 1}` as `{"a": {"b": 1}}`; values of the request are none of context entries. */
function nested(values: JsonObject): JsonObject {
  const made: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(values)) {
    const [first = "", ...others] = key.split(".");
    if (first === "request") continue;
    let at = made;
    let last = first;
    for (const part of others) {
      const inner = at[last];
      at = at[last] = isObject(inner) ? { ...inner } : {};
      last = part;
    }
    at[last] = value;
  }
  return made;
}

/** The rule with values: those that no entry names become variables of the whole rule. */
function inRule(rule: JsonObject, values: JsonObject): JsonObject {
  const used = new Set<string>();
  const replaced = inValue(rule, values, used) as JsonObject;
  const left = Object.keys(values).filter((name) => !used.has(name));
  if (left.length === 0) return replaced;
  const context = Array.isArray(replaced.context) ? (replaced.context as readonly unknown[]) : [];
  return { ...replaced, context: [...left.map((name) => variable(name, values[name])), ...context] };
}

function inValue(value: unknown, values: JsonObject, used: Set<string>): unknown {
  if (Array.isArray(value)) return value.map((each) => inValue(each, values, used));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (key !== "context" || !Array.isArray(inner)) return [key, inValue(inner, values, used)];
      return [key, inner.map((entry: unknown) => inEntry(entry, values, used))];
    }),
  );
}

/** An entry's own variable is computed, whatever the values say. */
function inEntry(entry: unknown, values: JsonObject, used: Set<string>): unknown {
  const name = text(entry, "name");
  if (!Object.hasOwn(values, name)) return entry;
  used.add(name);
  return member(entry, "variable") === undefined ? variable(name, values[name]) : entry;
}

const variable = (name: string, value: unknown): JsonObject => ({ name, variable: { value } });
