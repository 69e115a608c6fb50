/** The version of this package, equal to that in package.json (a test compares them): a constant, so that the joined code does not need the file. */
export const VERSION = "0.1.0";
