/** The types that an expression's type parameters stand for, and assignability under them (spec kubernetes-cel.md 7.1). */
import type { Behaviour } from "../../data/kubernetes-version.js";
import { DYN, listType, mapType, type Type, typeType } from "../types.js";
import { hasParameter, isDynamic, isExactType, isNullable, mostGeneral, unwrapped } from "./type-relations.js";

type Param = Type & { readonly kind: "param" };

interface Undo {
  readonly name: string;
  readonly before: Type | undefined;
}

/** Bindings of type parameters, grown while an expression is checked. A failed attempt leaves no trace. */
export class Substitution {
  readonly #bound = new Map<string, Type>();
  readonly #undo: Undo[] = [];

  constructor(readonly behaviour: Behaviour) {}

  /** The more general of two types that are assignable to each other. */
  mostGeneral(a: Type, b: Type): Type {
    return mostGeneral(a, b, this.behaviour);
  }

  /** Whether a value of type `actual` may stand where `formal` is expected. Binds parameters when it may. */
  assign(actual: Type, formal: Type): boolean {
    return this.#settle(this.#isAssignable(actual, formal));
  }

  /** The same for lists of equal length, all or nothing. */
  assignAll(actual: readonly Type[], formal: readonly Type[]): boolean {
    return this.#settle(this.#areAssignable(actual, formal));
  }

  /** The type with bound parameters replaced; free ones stay, or become dyn. */
  apply(type: Type, freeToDyn: boolean): Type {
    switch (type.kind) {
      case "param": {
        const bound = this.#bound.get(type.name);
        if (bound !== undefined) return this.apply(bound, freeToDyn);
        return freeToDyn ? DYN : type;
      }
      case "list": {
        const element = this.apply(type.element, freeToDyn);
        return element === type.element ? type : listType(element);
      }
      case "map": {
        const key = this.apply(type.key, freeToDyn);
        const value = this.apply(type.value, freeToDyn);
        return key === type.key && value === type.value ? type : mapType(key, value);
      }
      case "opaque": {
        if (type.params.length === 0) return type;
        const params = type.params.map((param) => this.apply(param, freeToDyn));
        return params.every((param, index) => param === type.params[index]) ? type : { ...type, params };
      }
      case "type": {
        if (type.of === undefined) return type;
        const of = this.apply(type.of, freeToDyn);
        return of === type.of ? type : typeType(of);
      }
      default:
        return type;
    }
  }

  /** Keeps the bindings of an attempt that succeeded, and removes those of one that failed. */
  #settle(success: boolean): boolean {
    if (success) this.#undo.length = 0;
    for (let undo = this.#undo.pop(); undo !== undefined; undo = this.#undo.pop()) {
      if (undo.before === undefined) this.#bound.delete(undo.name);
      else this.#bound.set(undo.name, undo.before);
    }
    return success;
  }

  #bind(name: string, type: Type): void {
    this.#undo.push({ name, before: this.#bound.get(name) });
    this.#bound.set(name, type);
  }

  #areAssignable(actual: readonly Type[], formal: readonly Type[]): boolean {
    if (actual.length !== formal.length) return false;
    for (let index = 0; index < actual.length; index += 1) {
      if (!this.#isAssignable(actual[index]!, formal[index]!)) return false;
    }
    return true;
  }

  #isAssignable(actual: Type, formal: Type): boolean {
    if (formal.kind === "param") {
      const outcome = this.#substitutes(actual, formal);
      if (outcome !== "unbound") return outcome;
    }
    if (actual.kind === "param") return this.#substitutes(formal, actual) === true;
    if (isDynamic(actual) || isDynamic(formal) || actual.kind === "error" || formal.kind === "error") return true;
    if (actual.kind === "null") return isNullable(formal);
    if (formal.kind === "null") return isNullable(actual);
    switch (actual.kind) {
      case "type":
        return formal.kind === "type" && this.#areCompatible(actual.of, formal.of);
      case "list":
        return formal.kind === "list" && this.#isAssignable(actual.element, formal.element);
      case "map":
        return (
          formal.kind === "map" &&
          this.#isAssignable(actual.key, formal.key) &&
          this.#isAssignable(actual.value, formal.value)
        );
      case "opaque":
        return (
          formal.kind === "opaque" && actual.name === formal.name && this.#areAssignable(actual.params, formal.params)
        );
      case "object":
        return formal.kind === "object" && actual.name === formal.name;
      default:
        return unwrapped(actual).kind === unwrapped(formal).kind;
    }
  }

  /** Whether types with these values may stand for each other: any until 1.38, then those that parameters allow. */
  #areCompatible(actual: Type | undefined, formal: Type | undefined): boolean {
    if (this.behaviour === "1.37" || formal === undefined) return true;
    if (actual === undefined) return false;
    return !(hasParameter(actual) || hasParameter(formal)) || this.#isAssignable(actual, formal);
  }

  /** Whether the parameter may stand for `type`: bound already (and widened), or bound now. `unbound`: it would contain itself. */
  #substitutes(type: Type, param: Param): boolean | "unbound" {
    if (type.kind === "param" && type.name === param.name) return true;
    const bound = this.#bound.get(param.name);
    if (bound !== undefined) {
      if (isExactType(type, bound)) return true;
      if (!this.#isAssignable(type, bound)) return false;
      const wider = this.mostGeneral(type, bound);
      if (!this.#occurs(param, wider)) this.#bind(param.name, wider);
      return true;
    }
    if (this.#occurs(param, type)) return "unbound";
    this.#bind(param.name, type);
    return true;
  }

  /** Whether the parameter occurs in `within`, bound parameters followed. */
  #occurs(param: Param, within: Type): boolean {
    switch (within.kind) {
      case "param": {
        if (within.name === param.name) return true;
        const bound = this.#bound.get(within.name);
        return bound !== undefined && this.#occurs(param, bound);
      }
      case "list":
        return this.#occurs(param, within.element);
      case "map":
        return this.#occurs(param, within.key) || this.#occurs(param, within.value);
      case "opaque":
        return within.params.some((part) => this.#occurs(param, part));
      case "type":
        return within.of !== undefined && this.#occurs(param, within.of);
      default:
        return false;
    }
  }
}
