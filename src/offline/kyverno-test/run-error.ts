/** Error that ends a test, and with it the run; the message is for the user. */
export class TestRunError extends Error {
  override readonly name = "TestRunError";
  readonly code = "TEST_RUN";
}
