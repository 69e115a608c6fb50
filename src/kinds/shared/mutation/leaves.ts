/** The values in which conversion ends: those without parts, or without parts that are converted. */
import { CelError, doubleOf, kindOf, type Uint, type Value } from "../../../cel/index.js";
import { jsonDouble } from "../../../data/json-double.js";
import { ForeignValue, type PatchValue } from "../../../kubernetes/structured-merge/patch-value.js";
import { foreignValue } from "./go-value.js";

/** Go's type of a JSON value. */
export const TARGET = "*structpb.Value";

/** An error's text in the form of package protobuf; it has a no-break space. */
const protobufError = (text: string): CelError => new CelError(`proto:\u00a0${text}`);

/** The value of a field that could not be converted. */
const errorValue = ({ message }: CelError): ForeignValue =>
  new ForeignValue(
    "*types.Err",
    () => message,
    () => message,
  );

/** A field of an apply configuration. */
export function patchLeaf(value: Value | CelError | ForeignValue): PatchValue {
  if (value instanceof CelError) return errorValue(value);
  if (value instanceof ForeignValue) return value;
  switch (kindOf(value)) {
    case "bool":
    case "int":
    case "double":
    case "string":
      return value as PatchValue;
    case "type":
      return (value as { readonly name: string }).name;
    default:
      return foreignValue(value);
  }
}

/** A field of an `Object` in a JSON Patch. */
export function structLeaf(value: Value | CelError | ForeignValue): unknown | CelError {
  if (value instanceof ForeignValue) return protobufError(`invalid type: ${value.type}`);
  if (value instanceof CelError) return protobufError("invalid type: *types.Err");
  switch (kindOf(value)) {
    case "bool":
    case "string":
      return value;
    case "int":
      return jsonDouble(Number(value));
    case "uint":
      return jsonDouble(Number((value as Uint).value));
    case "double":
      return finite(doubleOf(value) as number);
    case "bytes":
      return Buffer.from(value as Uint8Array).toString("base64");
    case "type":
      return (value as { readonly name: string }).name;
    default:
      return protobufError(`invalid type: ${foreignValue(value).type}`);
  }
}

/** A number as JSON has it: neither infinite nor NaN. */
export function finite(value: number): unknown | CelError {
  if (Number.isFinite(value)) return jsonDouble(value);
  const text = Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
  const { message } = protobufError(`google.protobuf.Value.number_value: invalid ${text} value`);
  return new CelError(`json: error calling MarshalJSON for type ${TARGET}: ${message}`);
}
