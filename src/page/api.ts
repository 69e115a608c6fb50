/**
 * The messages between the page in the browser and the server: JSON, types only, read by both sides. All paths are relative to `/page/`. Mode `read`
 * has `state` only, and evaluates nothing that the routes would not; `play` has all.
 */
import type { DiffLine, ExplainedAnswer } from "../kinds/explanation/types.js";

/** `GET /page/state`: the served policies, and what the page may do. */
export interface PageState {
  readonly version: string;
  /** `play`: drafts may be checked and evaluated. */
  readonly mode: "read" | "play";
  readonly generation: number;
  readonly policies: readonly PagePolicy[];
  /** With `play`: examples to begin with. */
  readonly examples: readonly PageExample[];
}

/** One served policy. */
export interface PagePolicy {
  readonly id: string;
  readonly kind: "wasm" | "cel" | "group" | "unavailable";
  readonly implementation: string;
  readonly mode: "protect" | "monitor";
  readonly allowedToMutate: boolean;
  /** Why it could not be loaded; absent: it was loaded. */
  readonly error?: string;
  /** Why an older version answers; absent: it is up to date. */
  readonly outdated?: string;
  /** The expression and members of a group. */
  readonly group?: PageGroup;
  /** With `play`: its text in the file, to be edited; absent for modules. */
  readonly source?: PageSource;
  /** With `play`: why it can only be shown, and neither evaluated nor edited; absent: it can be evaluated. */
  readonly shownOnly?: string;
}

/** A group's expression, in parts for a drawing. */
export interface PageGroup {
  readonly expression: string;
  /** The expression as a tree of `&&`, `||`, `!` and conditionals; any other part is a leaf. */
  readonly tree: GroupNode;
  /** The members in order of definition; `policy` is the id of a named policy, or `<group>/<member>` of one defined in place. */
  readonly members: readonly { readonly name: string; readonly policy: string }[];
}

/** A part of a group's expression; `from` and `to` are UTF-16 units of the expression. */
export interface GroupNode {
  readonly kind: "and" | "or" | "not" | "if" | "member" | "cel";
  readonly from: number;
  readonly to: number;
  /** The name of a `member`. */
  readonly name?: string;
  /** For `if`: condition, then, else. */
  readonly parts: readonly GroupNode[];
}

/** A text that can be edited and evaluated. */
export interface PageSource {
  /** `entry`: one or more entries of a policies.yaml; `resource`: documents such as a ValidatingAdmissionPolicy with its binding. */
  readonly kind: "entry" | "resource";
  readonly text: string;
}

/** A draft and a payload as an example. */
export interface PageExample {
  readonly name: string;
  readonly draft: PageSource;
  readonly payload: string;
}

/** `POST /page/check`: the problems of a draft, while it is typed. */
export interface CheckQuestion {
  readonly draft: PageSource;
}

/** An error or warning at its place in the draft. */
export interface PageProblem {
  readonly severity: "error" | "warning";
  /** 1-based, column in code points. */
  readonly line: number;
  readonly column: number;
  /** The end of the underline: of a word of the path, or of the expression's part; absent: the end of the word. */
  readonly endColumn?: number;
  readonly path: string;
  readonly message: string;
  readonly code?: string;
  readonly hint?: string;
}

/** The answer to a check. */
export interface CheckAnswer {
  readonly problems: readonly PageProblem[];
  /** The entries that can be evaluated. */
  readonly ids: readonly string[];
}

/** `POST /page/evaluate`: evaluates a draft, or a served policy. */
export interface EvaluateQuestion {
  /** Absent: the served policy `id`. A draft's entries come before the served ones, which a group of the draft may name. */
  readonly draft?: PageSource;
  /** Absent: the draft's only entry, or its last. */
  readonly id?: string;
  /** YAML or JSON: an object, an AdmissionReview, or with `raw` any value. */
  readonly payload: string;
  readonly raw?: boolean;
  /** Default CREATE. */
  readonly operation?: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
}

/** The answer, explained. */
export interface EvaluateAnswer {
  /** Mistakes of the draft; with errors there is no `answer`. */
  readonly problems: readonly PageProblem[];
  /** The error of the payload, at its place. */
  readonly payloadProblem?: PageProblem;
  readonly answer?: {
    readonly allowed: boolean;
    /** The client's answer, as JSON. */
    readonly response: unknown;
    /** The denial that monitor mode hid; absent: none. */
    readonly wouldDeny?: string;
    readonly warnings: readonly string[];
    readonly explained: ExplainedAnswer;
    /** The changes of the object by the patch, line by line; absent: it changes nothing. */
    readonly diff?: readonly DiffLine[];
    readonly milliseconds: number;
  };
}

/** A refused question: 400, 403, 413 … */
export interface PageRefusal {
  readonly error: string;
}
