/** Kyverno's functions that need only their arguments and the request's state (spec kyverno.md 4.2 and 4.6). */
import type { Bindings, FunctionDeclaration, ObjectTypeDeclaration, VariableDeclaration } from "../../../cel/index.js";
import { GZIP_FUNCTIONS } from "./gzip.js";
import { HASH_FUNCTIONS } from "./hash.js";
import { IMAGE_FUNCTIONS } from "./image.js";
import { JSON_FUNCTIONS, JSON_HELPER, JSON_TYPE } from "./json.js";
import { MATH_FUNCTIONS } from "./math.js";
import { OR_VALUE } from "./or-value.js";
import { RANDOM_FUNCTIONS } from "./random.js";
import { TIME_FUNCTIONS } from "./time.js";
import { TRANSFORM_FUNCTIONS } from "./transform.js";
import { SERVICE_ACCOUNT, USER_FUNCTIONS } from "./user.js";
import { X509_FUNCTIONS } from "./x509.js";
import { YAML_FUNCTIONS, YAML_HELPER, YAML_TYPE } from "./yaml.js";

export { IMAGE_FUNCTIONS } from "./image.js";

/** The functions, under all their names. */
export const libraryFunctions: readonly FunctionDeclaration[] = [
  ...OR_VALUE,
  ...IMAGE_FUNCTIONS,
  ...USER_FUNCTIONS,
  ...HASH_FUNCTIONS,
  ...MATH_FUNCTIONS,
  ...JSON_FUNCTIONS,
  ...YAML_FUNCTIONS,
  ...RANDOM_FUNCTIONS,
  ...TIME_FUNCTIONS,
  ...TRANSFORM_FUNCTIONS,
  ...GZIP_FUNCTIONS,
  ...X509_FUNCTIONS,
];

/** The types of their results. */
export const libraryTypes: readonly ObjectTypeDeclaration[] = [SERVICE_ACCOUNT];

/** The helper objects `json` and `yaml`. */
export const libraryVariables: readonly VariableDeclaration[] = [
  { name: "json", type: JSON_TYPE },
  { name: "yaml", type: YAML_TYPE },
];

/** The values of {@link libraryVariables}, for every evaluation. */
export const libraryBindings: Bindings = { json: JSON_HELPER, yaml: YAML_HELPER };
