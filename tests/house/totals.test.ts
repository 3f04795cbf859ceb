import { expect, it } from "vitest";
import { totalsOf } from "../../checks/tests.ts";

const file = (status: string, tests: number) => ({
  status,
  assertionResults: Array.from({ length: tests }, () => ({})),
});

it("the totals are those of the tests", () => {
  const result = {
    numPassedTests: 3,
    numFailedTests: 1,
    numPendingTests: 1,
    numTodoTests: 1,
    testResults: [file("failed", 6)],
  };
  expect(totalsOf(result, false)).toEqual({ passed: false, passedTests: 3, failedTests: 1, skippedTests: 2 });
});

it("a file that could not be loaded counts as one that failed", () => {
  const result = { numPassedTests: 3, numFailedTests: 0, testResults: [file("failed", 0), file("passed", 3)] };
  expect(totalsOf(result, false)).toMatchObject({ passedTests: 3, failedTests: 1 });
});

it("a run that left no result failed", () => {
  expect(totalsOf(undefined, false)).toEqual({ passed: false, passedTests: 0, failedTests: 1, skippedTests: 0 });
});
