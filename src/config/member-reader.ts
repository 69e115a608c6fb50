/** Reads the members of a group: a map from name to member, or a list of members with names (as in the policy-group RFC). */

import { Origin } from "./documents/origin.js";
import type { Path } from "./documents/problem.js";
import { pairOf, type SourceNode } from "./documents/source-node.js";
import type { Member } from "./entry.js";
import { REFERENCE_FIELDS } from "./entry-fields.js";
import { memberHints, type ReadContext } from "./entry-parts.js";
import { type Hints, record } from "./record-shape.js";
import { mismatch, text } from "./shape.js";
import { mapHint } from "./value-hints.js";

/** A member as it is written, before it is read. */
interface NamedNode {
  readonly name: string;
  readonly node: SourceNode;
  readonly path: Path;
}

const AS_IT_STANDS = "a member by reference is the policy as it stands; this is written there";
const REFERENCE_HINTS = {
  settings: "a member by reference is the policy as it stands; its settings are written there",
  policyMode: "a member has no mode of its own, its group has",
  allowedToMutate: "members of a group never mutate",
  message: AS_IT_STANDS,
  timeoutEvalSeconds: AS_IT_STANDS,
  hostCapabilities: AS_IT_STANDS,
} satisfies Hints;

/** Words that CEL reserves: a function can't have such a name. */
const RESERVED_WORDS = new Set(
  "false in null true as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);

/** The members in order, or undefined after at least one error. */
export function readMembers(
  node: SourceNode,
  groupId: string,
  path: Path,
  depth: number,
  context: ReadContext,
): readonly Member[] | undefined {
  const { sink } = context;
  const before = sink.errorCount;
  const named =
    node.kind === "map"
      ? node.pairs.map(({ key, value }) => ({ name: key, node: value, path: [...path, key] }))
      : namedByList(node, path, context);
  if (named === undefined) return undefined;
  if (named.length === 0) {
    if (sink.errorCount > before) return undefined;
    sink.error(path, "must not be empty: policy groups must have at least one policy member");
    return undefined;
  }
  checkNames(named, groupId, path, context);
  const members = named.map((member) => readMember(member, groupId, depth, context) ?? unreadable(member));
  return sink.salvages || sink.errorCount === before ? Object.freeze(members) : undefined;
}

/** Replaces a member with mistakes, so that its name is known: no entry has an empty id. */
const unreadable = ({ name }: NamedNode): Member => ({ name, policy: { kind: "reference", id: "" } });

function readMember(
  { name, node, path }: NamedNode,
  groupId: string,
  depth: number,
  context: ReadContext,
): Member | undefined {
  const origin = new Origin(context.document, path);
  if (node.kind === "map" && pairOf(node, "policy") !== undefined) {
    const members = memberHints(node, REFERENCE_FIELDS, `indent it as ${name}`);
    const reference = record(REFERENCE_FIELDS, { ...REFERENCE_HINTS, ...members });
    const fields = reference.read(node, path, context.sink);
    if (fields?.policy === undefined) return undefined;
    const { sink, references } = context;
    references.push({
      from: sink.policy,
      to: fields.policy,
      problem: (message, code) => origin.error(["policy"], message, undefined, { code }),
    });
    return Object.freeze({ name, policy: Object.freeze({ kind: "reference", id: fields.policy }) });
  }
  const policy = context.readPolicy({ node, id: `${groupId}/${name}`, path, level: { member: true, depth }, context });
  return policy && Object.freeze({ name, policy });
}

/** The hint for the name of a policy in the place of a member. */
function memberHint(node: SourceNode): string | undefined {
  const name = node.kind === "scalar" && typeof node.value === "string" ? node.value : "";
  if (!/^[\w.-]{1,100}$/.test(name)) return undefined;
  return `members are a map, from what the expression calls to the policy: ${name.replaceAll(/\W/g, "_")}: { policy: ${name} }`;
}

function namedByList(node: SourceNode, path: Path, { sink }: ReadContext): readonly NamedNode[] | undefined {
  if (node.kind !== "list")
    return mismatch(node, path, sink, "a map from name to member, or a list of members with names", memberHint(node));
  const named: NamedNode[] = [];
  for (const [index, item] of node.items.entries()) {
    const itemPath = [...path, index];
    const pair = item.kind === "map" ? pairOf(item, "name") : undefined;
    if (item.kind === "scalar") {
      mismatch(item, itemPath, sink, "a member with its name", memberHint(item));
      continue;
    }
    if (item.kind !== "map" || pair === undefined) {
      const hint = mapHint(node);
      sink.error(itemPath, 'missing key "name": in a list every member says its name', {
        code: "CONFIG_MISSING_KEY",
        ...(hint !== undefined && item.kind === "map" && item.pairs.length === 1 && { hint }),
      });
      continue;
    }
    const name = text("a name").read(pair.value, [...itemPath, "name"], sink);
    if (name === undefined) continue;
    if (named.some((other) => other.name === name))
      sink.error([...itemPath, "name"], `a second member named ${JSON.stringify(name)}`, {
        code: "CONFIG_DUPLICATE_KEY",
      });
    named.push({ name, path: itemPath, node: { ...item, pairs: item.pairs.filter((other) => other !== pair) } });
  }
  return named;
}

/** Checks names. A `/` separates group and member in ids, so it is refused; names that CEL can't call are only warned of, because Kubewarden accepts them. */
function checkNames(named: readonly NamedNode[], groupId: string, path: Path, { sink }: ReadContext): void {
  const bad = named.map(({ name }) => name).filter((name) => name.includes("/"));
  if (bad.length > 0) {
    const list = bad.map((name) => JSON.stringify(name)).join(", ");
    sink.error(path, `policy group '${groupId}' contains policies with invalid names: [${list}]`, {
      code: "CONFIG_NAME",
    });
  }
  for (const { name, path: memberPath } of named) {
    if (name.includes("/")) continue;
    const parts = name.split(".");
    const reserved = parts.find((part) => RESERVED_WORDS.has(part));
    if (!parts.every((part) => /^[_a-zA-Z][_a-zA-Z0-9]*$/.test(part))) {
      sink.keyWarning(
        memberPath,
        "the expression can't call a member of this name: use letters, digits and _, no digit first",
        { code: "CONFIG_NAME" },
      );
    } else if (reserved !== undefined) {
      const why = `${reserved} is a reserved word of CEL`;
      sink.keyWarning(memberPath, `the expression can't call a member of this name: ${why}`, { code: "CONFIG_NAME" });
    }
  }
}
