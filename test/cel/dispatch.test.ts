import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fn, method, overload } from "../../src/cel/declare.js";
import { dispatcher } from "../../src/cel/dispatch.js";
import { DOUBLE, INT, listType, mapType, opaqueType, STRING, typeParam, UINT } from "../../src/cel/types.js";
import { CelError } from "../../src/cel/values/cel-error.js";
import { Duration, Timestamp } from "../../src/cel/values/time.js";
import { TypeValue } from "../../src/cel/values/type-value.js";
import { Uint } from "../../src/cel/values/uint.js";
import { MapValue, type Value } from "../../src/cel/values/value.js";

const kinds = fn(
  "kinds",
  overload("int", [INT], STRING, () => "int"),
  overload("uint", [UINT], STRING, () => "uint"),
  overload("double", [DOUBLE], STRING, () => "double"),
  overload("ints", [listType(INT)], STRING, () => "ints"),
  overload("lists", [listType(listType(STRING))], STRING, () => "lists"),
  overload("map", [mapType(STRING, INT)], STRING, () => "map"),
  overload("two", [INT, typeParam("T")], STRING, () => "two"),
  method("opaque", [opaqueType("net.IP")], STRING, () => "opaque"),
);

const called = (...args: readonly Value[]): unknown => {
  const result = dispatcher(kinds)(...args);
  return result instanceof CelError ? result.message : result;
};

describe("a call whose overload is chosen at run time", () => {
  test("tells the three numeric kinds apart", () => {
    assert.equal(called(1), "int");
    assert.equal(called(2n ** 60n), "int");
    assert.equal(called(new Uint(1)), "uint");
    assert.equal(called(Object(1) as Value), "double");
    assert.equal(called(1.5), "double");
    assert.equal(called(Number.NaN), "double");
  });

  test("judges a list by its first element and a map by one entry", () => {
    assert.equal(called([]), "ints");
    assert.equal(called([1, "a"]), "ints");
    assert.equal(called([["a"]]), "lists");
    assert.equal(called(["a", 1]), "no such overload: kinds(list)");
    assert.equal(called({}), "map");
    assert.equal(called({ a: 1 }), "map");
    assert.equal(called({ a: "b" }), "no such overload: kinds(map)");
    assert.equal(called(new MapValue()), "map");
  });

  test("names the kinds that no overload takes, as type() names them", () => {
    assert.equal(called(null), "no such overload: kinds(null_type)");
    assert.equal(
      called(new Timestamp(0, 0), new Duration(1), new TypeValue("int"), true, "s", new Uint8Array()),
      "no such overload: kinds(google.protobuf.Timestamp, google.protobuf.Duration, type, bool, string, bytes)",
    );
    assert.equal(called(), "no such overload: kinds()");
  });

  test("takes anything for a type parameter", () => {
    assert.equal(called(1, null), "two");
  });

  test("tries only the overloads it is given", () => {
    const onlyInt = dispatcher(kinds, kinds.overloads.slice(0, 1));
    assert.equal(onlyInt(1), "int");
    assert.equal((onlyInt(1.5) as CelError).message, "no such overload: kinds(double)");
  });

  test("leaves a function with an implementation of its own to that", () => {
    const own = { ...kinds, dynamic: (...args: readonly Value[]) => args.length };
    assert.equal(dispatcher(own)(1, 2, 3), 3);
  });
});
