import { LendstreamError } from '../../src/errors.ts';

/** The error with which a promise is rejected. */
export async function failureOf(attempt: Promise<unknown>): Promise<Error> {
  try {
    await attempt;
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
  throw new Error('It did not fail');
}

/** The error that a function throws, with its code. */
export function thrownBy(action: () => unknown): LendstreamError {
  const error = errorOf(action);
  if (error === undefined) throw new Error('Nothing was thrown');
  return error;
}

/** The status and message of the error that a function throws; `accepted` when it throws none. */
export function outcomeOf(action: () => unknown): string {
  const error = errorOf(action);
  return error === undefined ? 'accepted' : `${error.status} ${error.message}`;
}

function errorOf(action: () => unknown): LendstreamError | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    if (error instanceof LendstreamError) return error;
    throw error;
  }
}
