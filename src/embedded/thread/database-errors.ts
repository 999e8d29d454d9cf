import { LendstreamError, type ErrorCode } from '../../errors.ts';
import { databaseErrorKind } from '../../sqlite.ts';

/** The error code of the log for a failed statement. */
export function codeOfDatabaseError(error: unknown): ErrorCode {
  if (error instanceof LendstreamError) return error.code;
  return databaseErrorKind(error) === 'full' ? 'LOG_FULL' : 'LOG_UNAVAILABLE';
}
