/**
 * What the page in the browser and the server say to each other: JSON, types only, read by both sides. All paths are relative to `/page/`. Mode `read`
 * has `state` only, and evaluates nothing that the routes would not; `play` has all.
 */
import type { DiffLine, ExplainedAnswer } from "../kinds/explanation/types.js";

/** `GET /page/state`: what is served, and what the page may do. */
export interface PageState {
  readonly version: string;
  /** `play`: drafts may be checked and evaluated. */
  readonly mode: "read" | "play";
  readonly generation: number;
  readonly policies: readonly PagePolicy[];
  /** With `play`: something to begin with. */
  readonly examples: readonly PageExample[];
}

/** One served policy. */
export interface PagePolicy {
  readonly id: string;
  readonly kind: "wasm" | "cel" | "group" | "unavailable";
  readonly implementation: string;
  readonly mode: "protect" | "monitor";
  readonly allowedToMutate: boolean;
  /** Why it could not be loaded; absent: it was. */
  readonly error?: string;
  /** Why this is not what was asked for, though it answers. */
  readonly outdated?: string;
  /** Of a group. */
  readonly group?: PageGroup;
  /** With `play`: as it stands in its file, to be edited; absent for modules. */
  readonly source?: PageSource;
  /** With `play`: why it is shown only, and can be neither asked nor edited here; absent: it can be asked. */
  readonly shownOnly?: string;
}

/** A group's expression, cut into what is to be drawn. */
export interface PageGroup {
  readonly expression: string;
  /** The expression as a tree of `&&`, `||`, `!` and conditionals; what is none of these is a leaf. */
  readonly tree: GroupNode;
  /** In order of definition; `policy` is the id of what it names, or `<group>/<member>` of one defined in place. */
  readonly members: readonly { readonly name: string; readonly policy: string }[];
}

/** A part of a group's expression; `from` and `to` are UTF-16 units of the expression. */
export interface GroupNode {
  readonly kind: "and" | "or" | "not" | "if" | "member" | "cel";
  readonly from: number;
  readonly to: number;
  /** Of `member`: its name. */
  readonly name?: string;
  /** Of `if`: condition, then, else. */
  readonly parts: readonly GroupNode[];
}

/** A text that can be edited and evaluated. */
export interface PageSource {
  /** `entry`: one or more entries of a policies.yaml; `resource`: documents such as a ValidatingAdmissionPolicy with its binding. */
  readonly kind: "entry" | "resource";
  readonly text: string;
}

/** A draft and a payload that show something. */
export interface PageExample {
  readonly name: string;
  readonly draft: PageSource;
  readonly payload: string;
}

/** `POST /page/check`: what is wrong with a draft, while it is typed. */
export interface CheckQuestion {
  readonly draft: PageSource;
}

/** A mistake or doubt at its place in the draft. */
export interface PageProblem {
  readonly severity: "error" | "warning";
  /** 1-based, column in code points. */
  readonly line: number;
  readonly column: number;
  /** One word of the path, or the expression's part: where the underline ends; absent: at the end of the word. */
  readonly endColumn?: number;
  readonly path: string;
  readonly message: string;
  readonly code?: string;
  readonly hint?: string;
}

/** The answer to a check. */
export interface CheckAnswer {
  readonly problems: readonly PageProblem[];
  /** The entries that can be asked. */
  readonly ids: readonly string[];
}

/** `POST /page/evaluate`: asks a draft, or what is served. */
export interface EvaluateQuestion {
  /** Absent: what is served under `id`. With a draft its entries are seen before those that are served, which a group of the draft may name. */
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
  /** What is wrong with the payload, at its place. */
  readonly payloadProblem?: PageProblem;
  readonly answer?: {
    readonly allowed: boolean;
    /** What the client would get, as JSON. */
    readonly response: unknown;
    /** What monitor mode hid; absent: nothing. */
    readonly wouldDeny?: string;
    readonly warnings: readonly string[];
    readonly explained: ExplainedAnswer;
    /** What the patch makes of the object, line by line; absent: it changes nothing. */
    readonly diff?: readonly DiffLine[];
    readonly milliseconds: number;
  };
}

/** Any refused question: 400, 403, 413 … */
export interface PageRefusal {
  readonly error: string;
}
