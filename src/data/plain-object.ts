/**
 * Sets a key of an object under construction. `__proto__` must be defined: assigned, it would replace the prototype.
 */
export function setKey(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    object[key] = value;
  }
}
