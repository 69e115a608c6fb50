/** What a variable costs besides its name and value, as Extism's own runtime counts it. */
const OVERHEAD_BYTES = 48;

/** The variables of an Extism plugin. They live as long as a call: the next one sees nothing of them. */
export class Variables {
  readonly #values = new Map<string, Uint8Array>();
  readonly #limit: number;
  #bytes = 0;

  /** @param limit most bytes of all variables */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get isEmpty(): boolean {
    return this.#values.size === 0;
  }

  get(name: string): Uint8Array | undefined {
    return this.#values.get(name);
  }

  /** @returns why the variable could not be set */
  set(name: string, value: Uint8Array): string | undefined {
    const known = this.#values.get(name);
    const bytes = this.#bytes + cost(name, value) - (known ? cost(name, known) : 0);
    if (bytes > this.#limit) return `var memory limit exceeded: ${bytes} bytes requested, ${this.#limit} allowed`;
    this.#bytes = bytes;
    this.#values.set(name, value);
    return undefined;
  }

  delete(name: string): void {
    const known = this.#values.get(name);
    if (!known) return;
    this.#values.delete(name);
    this.#bytes -= cost(name, known);
  }
}

function cost(name: string, value: Uint8Array): number {
  return name.length + value.length + OVERHEAD_BYTES;
}
