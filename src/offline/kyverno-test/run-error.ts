/** Why a test, and with it the run, came to its end; the message is for the user. */
export class TestRunError extends Error {
  override readonly name = "TestRunError";
  readonly code = "TEST_RUN";
}
