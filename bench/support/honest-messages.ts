/** What the process of honest clients and the one that runs a scenario say to each other. */

/** How requests are sent from now on. */
export interface Phase {
  readonly name: string;
  /** Requests a second whatever comes back; 0: none. */
  readonly rate: number;
  /** Clients that send one request after the other instead; absent: by rate. */
  readonly clients?: number;
  /** Whether connections of earlier phases are given up first. */
  readonly fresh?: boolean;
}

/** What honest clients are started with. */
export interface HonestOptions {
  readonly url: string;
  /** Of a bare `node:http` server, asked at the same time: what it is late was not the fault of the server under test. */
  readonly reference: string;
  /** Authority of the server's certificate, for https addresses. */
  readonly ca?: string;
  /** Milliseconds after which a request counts as lost. */
  readonly patience: number;
}

/** What a phase came to. Times in milliseconds. */
export interface PhaseReport {
  readonly name: string;
  readonly seconds: number;
  readonly requests: number;
  /** Answers that are neither right nor a refusal, counted, and the first few in words. */
  readonly wrong: number;
  readonly examples: readonly string[];
  /** Denials because a policy could not decide. */
  readonly failed: number;
  /** Refusals for load: 429, 500, 503. */
  readonly turnedAway: number;
  /** Requests whose open connection broke, or that were not answered in time. Each was sent again. */
  readonly lost: number;
  /** Requests that got no connection, or one that broke before it was of any use. Each was sent again. */
  readonly refused: number;
  /** Requests that were never answered, however often they were sent. */
  readonly unanswered: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** Of each kind of request, the slowest first. */
  readonly kinds: readonly { readonly name: string; readonly p50: number; readonly p99: number }[];
  readonly referenceP99: number;
  readonly referenceMax: number;
}

/** To the process of honest clients. */
export type ToHonest = { readonly type: "phase"; readonly phase: Phase } | { readonly type: "end" };
/** From it: after each phase, once all of its requests are answered or given up. */
export interface FromHonest {
  readonly report: PhaseReport;
}
