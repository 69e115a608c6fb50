/** The OpenAPI definitions of built-in kinds that come with this package. */
import { readFileSync } from "node:fs";
import type { JsonObject } from "../../kubernetes/object.js";
import { SchemaSource } from "./schema-source.js";

/** Counted from the compiled file; generated from the API server's published definitions, without descriptions. */
const FILE = new URL("../../../../data/kubernetes-openapi.json", import.meta.url);

/** The schemas of the built-in kinds, and of CustomResourceDefinitions that are given. */
export const bundledSchemas = (resourceDefinitions: readonly JsonObject[] = []): SchemaSource =>
  new SchemaSource(JSON.parse(readFileSync(FILE, "utf8")) as JsonObject, resourceDefinitions);
