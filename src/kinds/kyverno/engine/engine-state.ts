import { randomBytes } from "node:crypto";
import type { RequestWorld } from "../../../world/request-world.js";
import { ImageEvidence } from "../image-validating/policy-images.js";
import type { ImageCalls, KyvernoState } from "../state.js";

/** The state of one request's evaluations (disposable). */
export class EngineState implements KyvernoState {
  readonly world: RequestWorld;
  /** Milliseconds since 1970, the same for all evaluations of the request. */
  readonly time: number;
  namespace = "";
  images: ImageCalls | undefined = undefined;
  #evidence: ImageEvidence | undefined;
  #seed: number | undefined;
  #random = 0;

  constructor(world: RequestWorld, time: number) {
    this.world = world;
    this.time = time;
  }

  /** The facts about images that all policies have found. */
  get evidence(): ImageEvidence {
    this.#evidence ??= new ImageEvidence();
    return this.#evidence;
  }

  /**
   * Must be called before each attempt at an evaluation: its random numbers begin anew, so that questions made with them stay the same.
   * @param number identifies it among others for the same request
   */
  begin(namespace: string, number: number): void {
    this.namespace = namespace;
    this.#random = number;
  }

  /** The generator `mulberry32`: its numbers need not be hard to guess. */
  random(): number {
    this.#seed ??= randomBytes(4).readUInt32LE();
    this.#random = (this.#random + 0x6d2b79f5) | 0;
    let t = this.#random ^ this.#seed;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }
}
