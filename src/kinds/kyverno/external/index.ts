/** The functions that ask the world: `resource`, `http`, `globalContext` and `image` (spec kyverno.md 4.5). */
import type { Bindings, FunctionDeclaration, ObjectTypeDeclaration, VariableDeclaration } from "../../../cel/index.js";

/** @param namespaced those of a NamespacedValidatingPolicy: without a namespace argument */
export const externalFunctions = (_namespaced: boolean): readonly FunctionDeclaration[] => [];

export const externalVariables: readonly VariableDeclaration[] = [];

export const externalTypes: readonly ObjectTypeDeclaration[] = [];

/** The values of {@link externalVariables}, for every evaluation. */
export const externalBindings: Bindings = {};
