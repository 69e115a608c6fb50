/** The error of a payload that is not a request of its mode, in the words of Kyverno's command where those are short. */
export class RequestError extends Error {}
