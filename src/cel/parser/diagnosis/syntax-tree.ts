/** The syntax tree of text that may be broken: the recognised parts, by the labels of the grammar. */

/** A token; a missing one is inserted. */
export interface TreeToken {
  readonly type: number;
  readonly text: string;
  /** Code point offset. */
  readonly offset: number;
}

/** A node: the rule it stands for, or the name of the rule's alternative once that is known. */
export class TreeNode {
  /** The alternative or suffix that was taken. */
  name: string | undefined;
  readonly #nodes: { readonly label: string; readonly node: TreeNode }[] = [];
  readonly #tokens: { readonly label: string; readonly token: TreeToken }[] = [];

  constructor(
    readonly rule: string,
    /** Code point offset of the first token. */
    readonly offset: number,
  ) {}

  addNode(label: string, node: TreeNode): void {
    this.#nodes.push({ label, node });
  }

  addToken(label: string, token: TreeToken): void {
    this.#tokens.push({ label, token });
  }

  /** The nodes with a label, in order. */
  nodes(label: string): readonly TreeNode[] {
    return this.#nodes.filter((each) => each.label === label).map(({ node }) => node);
  }

  /** The tokens with a label, in order. */
  tokens(label: string): readonly TreeToken[] {
    return this.#tokens.filter((each) => each.label === label).map(({ token }) => token);
  }

  /** The last node with a label. */
  node(label: string): TreeNode | undefined {
    return this.#nodes.findLast((each) => each.label === label)?.node;
  }

  /** The last token with a label. */
  token(label: string): TreeToken | undefined {
    return this.#tokens.findLast((each) => each.label === label)?.token;
  }
}
