/** Kyverno's functions that need nothing but their arguments and the request's state (spec kyverno.md 4.2 and 4.6). */
import type { Bindings, FunctionDeclaration, ObjectTypeDeclaration, VariableDeclaration } from "../../../cel/index.js";
import { OR_VALUE } from "./or-value.js";

/** Under every name that they have. */
export const libraryFunctions: readonly FunctionDeclaration[] = [...OR_VALUE];

/** The types of what they give. */
export const libraryTypes: readonly ObjectTypeDeclaration[] = [];

/** The helper objects `json` and `yaml`. */
export const libraryVariables: readonly VariableDeclaration[] = [];

/** The values of {@link libraryVariables}, for every evaluation. */
export const libraryBindings: Bindings = {};
