/** `getImageData`: the data of an image, by the names of the reference's Go structs as well as by those of JSON (spec kyverno.md 9). */
import { CelError, ObjectValue, type Result, type Value } from "../../../cel/index.js";
import { isObject, type JsonObject } from "../../../kubernetes/object.js";

/** Members that are maps with any keys, or any JSON. */
const MAPS: ReadonlySet<string> = new Set(["labels", "annotations", "exposedports", "volumes", "imageindex"]);
/** The texts of an image that may be absent. */
const TEXTS: ReadonlySet<string> = new Set([
  "image",
  "resolvedimage",
  "registry",
  "repository",
  "identifier",
  "tag",
  "digest",
]);

/** A name of either kind without what differs: `DiffIDs`, `diff_ids`. */
const plain = (name: string): string => name.toLowerCase().replace(/[._]/g, "");

/** A Go struct. */
export class StructValue extends ObjectValue {
  readonly typeName = "imagedataloader.ImageData";
  readonly #object: JsonObject;
  readonly #isImage: boolean;
  /** The names in JSON by their plain forms; made at first use. */
  #names: ReadonlyMap<string, string> | undefined;

  constructor(object: JsonObject, isImage: boolean) {
    super();
    this.#object = object;
    this.#isImage = isImage;
  }

  get(field: string): Result {
    const wanted = this.#isImage && field === "ConfigData" ? "config" : plain(field);
    this.#names ??= new Map(Object.keys(this.#object).map((name) => [plain(name), name]));
    const name = this.#names.get(wanted);
    if (name !== undefined) return memberOf(this.#object[name], wanted);
    if (this.#isImage && TEXTS.has(wanted)) return "";
    return this.#isImage && wanted === "imageindex" ? null : new CelError(`no such field: ${field}`);
  }

  has(field: string): boolean | CelError {
    const value = this.get(field);
    return value instanceof CelError ? value : value !== null && value !== "";
  }

  fields(): Iterable<string> {
    return Object.keys(this.#object);
  }

  /** The value with the names of JSON. */
  get json(): Value {
    return this.#object as Value;
  }
}

function memberOf(value: unknown, name: string): Value {
  if (MAPS.has(name)) return value as Value;
  if (Array.isArray(value)) return value.map((each) => memberOf(each, ""));
  return isObject(value) ? new StructValue(value, false) : (value as Value);
}

/** The data of an image as a value. */
export const imageDataValue = (data: JsonObject): Value => new StructValue(data, true);
