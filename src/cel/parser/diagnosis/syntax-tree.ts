/** The syntax tree of text that may be broken: what the parser recognised, by the labels of the grammar. */

/** A token; `index` is -1 for one that was missing and is made up. */
export interface TreeToken {
  readonly type: number;
  readonly text: string;
  /** Code point offset. */
  readonly offset: number;
  readonly index: number;
}

/** A node: the rule it stands for, or the name of the rule's alternative once that is known. */
export class TreeNode {
  /** The alternative or suffix that was taken. */
  name: string | undefined;
  readonly #nodes = new Map<string, TreeNode[]>();
  readonly #tokens = new Map<string, TreeToken[]>();

  constructor(
    readonly rule: string,
    /** Code point offset of the first token. */
    readonly offset: number,
  ) {}

  addNode(label: string, node: TreeNode): void {
    const nodes = this.#nodes.get(label);
    if (nodes === undefined) this.#nodes.set(label, [node]);
    else nodes.push(node);
  }

  addToken(label: string, token: TreeToken): void {
    const tokens = this.#tokens.get(label);
    if (tokens === undefined) this.#tokens.set(label, [token]);
    else tokens.push(token);
  }

  /** The nodes with a label, in order. */
  nodes(label: string): readonly TreeNode[] {
    return this.#nodes.get(label) ?? [];
  }

  /** The tokens with a label, in order. */
  tokens(label: string): readonly TreeToken[] {
    return this.#tokens.get(label) ?? [];
  }

  /** The last node with a label. */
  node(label: string): TreeNode | undefined {
    return this.#nodes.get(label)?.at(-1);
  }

  /** The last token with a label. */
  token(label: string): TreeToken | undefined {
    return this.#tokens.get(label)?.at(-1);
  }
}
