/** A payload that is no request of its mode; the message says why, in the words of Kyverno's command where it has a short one. */
export class RequestError extends Error {}
