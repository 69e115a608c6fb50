import { readFileSync } from "node:fs";
import type { JsonObject } from "../../../kubernetes/object.js";
import { SchemaSource } from "./schema-source.js";

/** Relative to the compiled file; generated from the API server's published definitions, without descriptions. */
const FILE = new URL("../../../../../data/kubernetes-openapi.json", import.meta.url);

/** Makes schemas of the built-in kinds and of the given CustomResourceDefinitions. */
export type SchemaFactory = (resourceDefinitions?: readonly JsonObject[]) => SchemaSource;

/** A factory with the definitions of built-in kinds that come with this package: they are read when first needed, once. */
export function bundledSchemas(): SchemaFactory {
  let openapi: JsonObject | undefined;
  return (resourceDefinitions = []) => {
    openapi ??= JSON.parse(readFileSync(FILE, "utf8")) as JsonObject;
    return new SchemaSource(openapi, resourceDefinitions);
  };
}
