/** The policy that a rule becomes, while it is written. */
import type { FieldPath } from "../../../kubernetes/field-error.js";
import type { AuditAnnotation, NamedExpression, Validation } from "../resource.js";
import { type Cel, primary } from "./cel-text.js";

/** A part of the new policy, and the place of what it comes from in the old one. */
export type Placed<T> = T & { readonly from: FieldPath };

/** One rule's policy (disposable). Parts stand in the order in which they were written. */
export class RuleDraft {
  readonly variables: Placed<NamedExpression>[] = [];
  readonly conditions: Placed<NamedExpression>[] = [];
  readonly validations: Placed<Validation>[] = [];
  readonly auditAnnotations: Placed<AuditAnnotation>[] = [];
  /** Things that are converted, but not quite as they were. */
  readonly notes: { readonly path: FieldPath; readonly message: string }[] = [];
  readonly #names = new Map<string, string>();
  readonly #taken = new Set<string>();

  /**
   * A variable of the policy: the same expression gets one variable only.
   * @param name what it is called, if the name is free: letters and digits
   * @returns `variables.NAME`
   */
  variable(name: string, { text }: Cel, from: FieldPath): Cel {
    let known = this.#names.get(text);
    if (known === undefined) {
      known = this.#free(name);
      this.#names.set(text, known);
      this.variables.push({ name: known, expression: text, from });
    }
    return primary(`variables.${known}`);
  }

  /** Adds a match condition: false lets the rule be skipped, an error is the rule's. */
  condition(name: string, { text }: Cel, from: FieldPath): void {
    if (text === "true") return;
    this.conditions.push({ name: this.#free(name, "-"), expression: text, from });
  }

  /** Adds a validation: false denies. @param message a text, or an expression that makes one */
  validate(
    { text }: Cel,
    message: string | { readonly expression: Cel; readonly otherwise: string },
    from: FieldPath,
  ): void {
    const words =
      typeof message === "string"
        ? { message }
        : {
            messageExpression: message.expression.text,
            ...(message.otherwise !== "" && { message: message.otherwise }),
          };
    this.validations.push({ expression: text, ...words, from });
  }

  /** The same about the objects that have a Pod in `spec.template`: `object.spec` and `object.metadata` are the Pod's. */
  withPods(): RuleDraft {
    const pods = new RuleDraft();
    const of = (root: string): string => `${root}.kind == "Pod" ? ${root} : ${root}.spec.template`;
    const moved = <T extends object>(list: readonly T[], isInline = false): readonly T[] =>
      list.map((each) => {
        const entries = Object.entries(each).map(([key, value]) => [
          key,
          typeof value !== "string" || !/expression$/i.test(key)
            ? value
            : value.replace(/(?<!\w)(object|oldObject)\.(?=(?:spec|metadata)(?!\w))/g, (_, root: string) =>
                isInline ? `(${of(root)}).` : `variables.${root === "object" ? "pod" : "oldPod"}.`,
              ),
        ]);
        return Object.fromEntries(entries) as T;
      });
    const from = ["match"];
    pods.variables.push(
      { name: "pod", expression: of("object"), from },
      { name: "oldPod", expression: of("oldObject"), from },
      ...moved(this.variables),
    );
    pods.conditions.push(...moved(this.conditions, true));
    pods.validations.push(...moved(this.validations));
    pods.auditAnnotations.push(...moved(this.auditAnnotations));
    return pods;
  }

  note(path: FieldPath, message: string): void {
    this.notes.push({ path, message });
  }

  #free(name: string, glue = ""): string {
    let free = name;
    for (let i = 2; this.#taken.has(free); i++) free = `${name}${glue}${i}`;
    this.#taken.add(free);
    return free;
  }
}
