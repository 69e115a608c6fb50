/** Requests with their answers as lines of JSON: written by `serve --record`, read by `replay`. */

export { keepShort, RecordFile } from "./record-file.js";
export type { AnsweredReview } from "./record-line.js";
export {
  RECORD_MARK,
  REDACTED,
  type RecordedAnswer,
  type RecordedDecision,
  type RecordedRequest,
} from "./recorded-request.js";
export { Recorder, type RequestRecorder } from "./recorder.js";
