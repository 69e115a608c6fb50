/** The objects through which Kyverno's expressions ask the world: `resource`, `http`, `globalContext`, `image` (spec kyverno.md 4.5). */
import type { FunctionDeclaration, Value, VariableDeclaration } from "../../../cel/index.js";
import { ContextValue } from "./context-value.js";
import { ENTRY_CONTEXT, entryMethods } from "./global-context.js";
import { HTTP_CONTEXT, HttpValue, httpMethods } from "./http.js";
import { IMAGE_CONTEXT, imageMethods } from "./image.js";
import { RESOURCE_CONTEXT, resourceMethods } from "./resource.js";

/**
 * The methods of these objects; their state is a {@link import("../state.js").KyvernoState}.
 * @param namespaced for NamespacedValidatingPolicies, which see one namespace (spec kyverno.md 1.7)
 */
export const externalFunctions = (namespaced: boolean): readonly FunctionDeclaration[] => {
  const byName = new Map<string, FunctionDeclaration>();
  const all = [
    ...resourceMethods(namespaced),
    ...httpMethods(namespaced),
    ...entryMethods(namespaced),
    ...imageMethods,
  ];
  for (const { name, overloads } of all) {
    byName.set(name, { name, overloads: [...(byName.get(name)?.overloads ?? []), ...overloads] });
  }
  return [...byName.values()];
};

/** The objects, as variables that every expression can name. */
export const externalVariables: readonly VariableDeclaration[] = [
  { name: "resource", type: RESOURCE_CONTEXT },
  { name: "http", type: HTTP_CONTEXT },
  { name: "globalContext", type: ENTRY_CONTEXT },
  { name: "image", type: IMAGE_CONTEXT },
];

/** The values of {@link externalVariables}: the same for all requests, since the world is in the state. */
export const externalBindings: Readonly<Record<"resource" | "http" | "globalContext" | "image", Value>> = Object.freeze(
  {
    resource: new ContextValue("resource.Context"),
    http: new HttpValue(""),
    globalContext: new ContextValue("globalcontext.Context"),
    image: new ContextValue("imagedata.Context"),
  },
);
