/** The expressions of policies for an authorization server (spec kyverno.md 6.3). */
import {
  type Bindings,
  type FunctionDeclaration,
  type ObjectTypeDeclaration,
  objectType,
  STRING,
  type Value,
  type VariableDeclaration,
} from "../../../cel/index.js";
import type { Dialect } from "../../shared/dialect.js";
import { VARIABLES_TYPE } from "../dialect.js";
import { externalBindings, externalFunctions, externalVariables } from "../external/index.js";
import { IMAGE_FUNCTIONS } from "../libraries/image.js";
import { JSON_FUNCTIONS, JSON_HELPER, JSON_TYPE } from "../libraries/json.js";
import { ENVOY_FUNCTIONS } from "./envoy/functions.js";
import { ENVOY, ENVOY_TYPES } from "./envoy/types.js";
import { HTTP_FUNCTIONS } from "./http/functions.js";
import { HTTP, HTTP_TYPES } from "./http/types.js";
import { JWT_FUNCTIONS, JWT_TYPES } from "./jwt/functions.js";
import { MCP_FUNCTIONS, MCP_HELPER } from "./mcp/functions.js";
import { MCP_CONSTANTS, MCP_HELPER_TYPE, MCP_TYPES } from "./mcp/types.js";
import type { AuthorizationMode } from "./mode.js";

// `json.Unmarshal` of an authorization server: the same function as in {@link JSON_FUNCTIONS}, with another name.

/** The one function of `json`. */
const AUTHORIZATION_JSON: readonly FunctionDeclaration[] = JSON_FUNCTIONS.filter(
  ({ name }) => name === "unmarshal",
).map((declaration) => ({ ...declaration, name: "Unmarshal" }));

/** The types of a mode. */
export interface ModeWords {
  /** The type of `object`. */
  readonly request: string;
  /** The type that a validation gives, unless it is null. */
  readonly response: string;
  readonly types: readonly ObjectTypeDeclaration[];
  readonly functions: readonly FunctionDeclaration[];
}

/** The modes. */
export const MODE_WORDS: Readonly<Record<AuthorizationMode, ModeWords>> = {
  HTTP: {
    request: HTTP.request,
    response: HTTP.response,
    types: HTTP_TYPES.declarations,
    functions: HTTP_FUNCTIONS,
  },
  Envoy: {
    request: ENVOY.request,
    response: ENVOY.response,
    types: ENVOY_TYPES.declarations,
    functions: ENVOY_FUNCTIONS,
  },
};

/** The objects with which expressions ask the world; there is no `globalContext`. */
const ASKED: readonly string[] = ["resource", "http", "image"];

const VARIABLES: readonly VariableDeclaration[] = [
  ...externalVariables.filter(({ name }) => ASKED.includes(name)),
  { name: "json", type: JSON_TYPE },
  { name: "mcp", type: MCP_HELPER_TYPE },
  ...Object.keys(MCP_CONSTANTS).map((name) => ({ name, type: STRING })),
];

/** Units of the CEL cost model that one expression may use. The reference has no limit: this one takes about a second to reach. */
const EXPRESSION_COST = 10_000_000;

/** The values of all variables but `variables`. */
export const bindingsFor = (object: Value): Bindings => ({
  object,
  resource: externalBindings.resource,
  http: externalBindings.http,
  image: externalBindings.image,
  json: JSON_HELPER,
  mcp: MCP_HELPER,
  ...MCP_CONSTANTS,
});

/** The dialect of a mode. */
export function authorizationDialect(mode: AuthorizationMode): Dialect {
  const { request, types, functions } = MODE_WORDS[mode];
  return {
    environment: {
      flavour: "kubernetes",
      version: "1.36",
      extensions: ["bindings", "encoders", "math", "strings"],
      objectTypes: [...types, ...JWT_TYPES.declarations, ...MCP_TYPES.declarations],
      variables: [{ name: "object", type: objectType(request) }, ...VARIABLES],
      functions: [
        ...functions,
        ...JWT_FUNCTIONS,
        ...AUTHORIZATION_JSON,
        ...MCP_FUNCTIONS,
        ...IMAGE_FUNCTIONS,
        ...externalFunctions(false),
      ],
    },
    optional: {},
    variables: { typeName: VARIABLES_TYPE, nameOf: (field) => field },
    costs: {
      expression: EXPRESSION_COST,
      evaluation: Number.POSITIVE_INFINITY,
      conditions: Number.POSITIVE_INFINITY,
    },
    words: {
      notCompiled: (text) => text,
      wrongType: (wanted) => `matchCondition output is expected to be of type ${wanted}`,
      failed: (_source, error) => error,
      uncompiled: (error) => error,
      failedVariable: (_name, error) => error,
      uncompiledVariable: (_name, error) => error,
      outOfBudget: "operation cancelled: actual cost limit exceeded",
    },
  };
}
