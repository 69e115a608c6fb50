import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { tests as checking } from "@bufbuild/cel-spec/testdata/checking.js";
import type { Declarations } from "../../src/cel/checked.js";
import { TypeChecker } from "../../src/cel/checker/index.js";
import type { FunctionDeclaration, ObjectTypeDeclaration } from "../../src/cel/declarations.js";
import { parserOptions } from "../../src/cel/macros/macro-sets.js";
import { parse } from "../../src/cel/parser/index.js";
import {
  ANY,
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  formatType,
  INT,
  listType,
  mapType,
  NULL,
  objectType,
  opaqueType,
  STRING,
  TIMESTAMP,
  type Type,
  typeParam,
  typeType,
  UINT,
  wrapperType,
} from "../../src/cel/types.js";
import { debugText } from "../cel/support/debug-text.js";
import { vectorDeclarations } from "../cel/support/vectors.js";

interface TypeData {
  readonly primitive?: string;
  readonly wrapper?: string;
  readonly wellKnown?: string;
  readonly messageType?: string;
  readonly typeParam?: string;
  readonly null?: unknown;
  readonly type?: TypeData;
  readonly listType?: { readonly elemType?: TypeData };
  readonly mapType?: { readonly keyType?: TypeData; readonly valueType?: TypeData };
  readonly abstractType?: { readonly name: string; readonly parameterTypes?: readonly TypeData[] };
}

interface OverloadData {
  readonly overloadId: string;
  readonly params?: readonly TypeData[];
  readonly resultType: TypeData;
  readonly isInstanceFunction?: boolean;
}

interface CheckingCase {
  readonly original: {
    readonly expr: string;
    readonly container?: string;
    readonly typeEnv?: readonly {
      readonly name: string;
      readonly ident?: { readonly type: TypeData };
      readonly function?: { readonly overloads: readonly OverloadData[] };
    }[];
  };
  readonly ast?: string;
  readonly type?: string;
  readonly error?: string;
}

const SCALARS: ReadonlyMap<string, Type> = new Map([
  ["BOOL", BOOL],
  ["INT64", INT],
  ["UINT64", UINT],
  ["DOUBLE", DOUBLE],
  ["STRING", STRING],
  ["BYTES", BYTES],
  ["ANY", ANY],
  ["TIMESTAMP", TIMESTAMP],
  ["DURATION", DURATION],
]);

/** Messages that stand for plain values. */
const PLAIN_MESSAGES: ReadonlyMap<string, Type> = new Map([
  ["google.protobuf.Struct", mapType(STRING, DYN)],
  ["google.protobuf.ListValue", listType(DYN)],
  ["google.protobuf.Value", DYN],
  ["google.protobuf.Int32Value", wrapperType(INT)],
]);

function typeOf(data: TypeData = {}): Type {
  if (data.primitive !== undefined) return SCALARS.get(data.primitive) ?? DYN;
  if (data.wellKnown !== undefined) return SCALARS.get(data.wellKnown) ?? DYN;
  if (data.wrapper !== undefined) return wrapperType(SCALARS.get(data.wrapper) ?? DYN);
  if (data.messageType !== undefined) return PLAIN_MESSAGES.get(data.messageType) ?? objectType(data.messageType);
  if (data.typeParam !== undefined) return typeParam(data.typeParam);
  if (data.null !== undefined) return NULL;
  if (data.type !== undefined) return typeType(typeOf(data.type));
  if (data.listType !== undefined) return listType(typeOf(data.listType.elemType));
  if (data.mapType !== undefined) return mapType(typeOf(data.mapType.keyType), typeOf(data.mapType.valueType));
  if (data.abstractType === undefined) return DYN;
  return opaqueType(data.abstractType.name, ...(data.abstractType.parameterTypes ?? []).map(typeOf));
}

const standard = vectorDeclarations("standard");

/** What the data's environment has besides the standard library. */
const VARIABLES: ReadonlyMap<string, Type> = new Map([
  ["is", STRING],
  ["ii", INT],
  ["iu", UINT],
  ["iz", BOOL],
  ["id", DOUBLE],
  ["ix", NULL],
  ["ib", BYTES],
]);

const FUNCTIONS: ReadonlyMap<string, FunctionDeclaration> = new Map([
  ["fg_s", { name: "fg_s", overloads: [{ id: "fg_s_0", member: false, params: [], result: STRING }] }],
  ["fi_s_s", { name: "fi_s_s", overloads: [{ id: "fi_s_s_0", member: true, params: [STRING], result: STRING }] }],
]);

/** The message types of the data in one package, with the fields that the cases use. */
function messages(pack: string): readonly ObjectTypeDeclaration[] {
  const name = `${pack}.TestAllTypes`;
  const nested = objectType(`${name}.NestedMessage`);
  const wrappers = Object.entries({
    bool: BOOL,
    bytes: BYTES,
    double: DOUBLE,
    float: DOUBLE,
    int32: INT,
    int64: INT,
    string: STRING,
    uint32: UINT,
    uint64: UINT,
  }).map(([field, type]) => [`single_${field}_wrapper`, wrapperType(type)] as const);
  const fields = new Map<string, Type>([
    ...wrappers,
    ["single_int32", INT],
    ["single_int64", INT],
    ["single_value", DYN],
    ["single_any", ANY],
    ["single_struct", mapType(STRING, DYN)],
    ["single_timestamp", TIMESTAMP],
    ["single_duration", DURATION],
    ["single_nested_message", nested],
    ["repeated_int32", listType(INT)],
    ["repeated_int64", listType(INT)],
    ["repeated_nested_message", listType(nested)],
    ["map_int64_nested_type", mapType(INT, objectType(`${pack}.NestedTestAllTypes`))],
    ["map_string_string", mapType(STRING, STRING)],
  ]);
  return [
    { name, fields },
    { name: nested.kind === "object" ? nested.name : "", fields: new Map([["bb", INT]]) },
  ];
}

const OBJECT_TYPES: ReadonlyMap<string, ObjectTypeDeclaration> = new Map(
  ["google.expr.proto2.test", "google.expr.proto3.test"]
    .flatMap(messages)
    .map((declaration) => [declaration.name, declaration]),
);

/** Enums and protobuf groups are not part of this engine; a variable can't be declared as a message type that is none. */
const NEEDS_PROTOBUF = /NestedEnum|nestedgroup|NotAMessage/;

/** The data was made with optional syntax off where it says so. */
const WITHOUT_OPTIONALS = /unsupported syntax '/;

/** The data has sources without a name in places. */
const unnamed = (text: string | undefined): string | undefined => text?.replaceAll("<input>", "");

/** Cases made without comparisons across numeric types. */
const SAME_TYPE_ONLY = /no matching overload for '_[<>]=?_' applied to '\((int|uint|double), (int|uint|double)\)'/;
const ACROSS_TYPES = /^(less|greater)(_equals)?_(int64|uint64|double)_(int64|uint64|double)$/;

function declarationsOf({ original, error }: CheckingCase): Declarations {
  const variables = new Map<string, Type>(VARIABLES);
  const sameTypeOnly = SAME_TYPE_ONLY.test(error ?? "");
  const functions = new Map<string, FunctionDeclaration>([...standard.functions, ...FUNCTIONS]);
  for (const { name, ident, function: declared } of original.typeEnv ?? []) {
    if (ident !== undefined) variables.set(name, typeOf(ident.type));
    if (declared === undefined) continue;
    const overloads = declared.overloads.map((overload) => ({
      id: overload.overloadId,
      member: overload.isInstanceFunction === true,
      params: (overload.params ?? []).map(typeOf),
      result: typeOf(overload.resultType),
    }));
    functions.set(name, { name, overloads: [...(functions.get(name)?.overloads ?? []), ...overloads] });
  }
  if (sameTypeOnly) {
    for (const [name, declaration] of functions) {
      const overloads = declaration.overloads.filter(({ id }) => !ACROSS_TYPES.test(id));
      functions.set(name, { ...declaration, overloads });
    }
  }
  return { ...standard, objectTypes: OBJECT_TYPES, container: original.container ?? "", variables, functions };
}

function outcome(each: CheckingCase): string {
  const optionalSyntax = !WITHOUT_OPTIONALS.test(each.error ?? "");
  const parsed = parse(each.original.expr, { ...parserOptions("standard", "1.37"), optionalSyntax });
  if (!parsed.ok) return parsed.text;
  if (each.ast !== undefined) assert.equal(debugText(parsed.parsed.expr), each.ast);
  const checked = new TypeChecker(declarationsOf(each)).check(parsed.parsed);
  return checked.ok ? formatType(checked.checked.type) : checked.text;
}

describe("the official checker data", () => {
  const cases = (checking as { readonly tests: readonly CheckingCase[] }).tests;
  for (const [index, each] of cases.entries()) {
    if (NEEDS_PROTOBUF.test(each.original.expr)) continue;
    test(`${index}: ${each.original.expr.slice(0, 60)}`, () => {
      assert.equal(unnamed(outcome(each)), unnamed(each.type ?? each.error));
    });
  }
});
