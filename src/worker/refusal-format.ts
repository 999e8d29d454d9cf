import { type Refusal, refusalCodes } from '../lending/refusals.ts';

/** A refusal as the lending API shows it: `{"errors":[{errorCode, errorReason, errorSource}]}` holds these. */
export interface ApiError {
  readonly errorCode: number;
  readonly errorReason: string;
  readonly errorSource: string | null;
}

export function apiErrors(refusals: readonly Refusal[]): ApiError[] {
  return refusals.map(({ errorReason, errorSource }) => ({
    errorCode: refusalCodes[errorReason],
    errorReason,
    errorSource,
  }));
}
