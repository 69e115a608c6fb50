/** Integers of 32 bits in an array that grows. */
export class Integers {
  #values = new Int32Array(1_024);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const larger = new Int32Array(this.#length * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#length++] = value;
  }

  at(index: number): number {
    return this.#values[index] ?? 0;
  }

  set(index: number, value: number): void {
    this.#values[index] = value;
  }

  add(index: number, value: number): void {
    this.#values[index] = this.at(index) + value;
  }

  clear(): void {
    this.#length = 0;
  }

  pop(): number {
    this.#length--;
    return this.#values[this.#length] ?? 0;
  }
}
