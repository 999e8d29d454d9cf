import type { Schemas } from '../contract.ts';
import { type Refusal, type RefusalReason, refusalCodes } from '../lending/refusals.ts';

/** A refusal as the lending API shows it: `{"errors":[{errorCode, errorReason, errorSource}]}` holds these. */
export type ApiError = Schemas['ApiError'];

/** @param messages In words, for reasons whose name does not say what to change. */
export function apiErrors(
  refusals: readonly Refusal[],
  messages: Readonly<Partial<Record<RefusalReason, string>>> = {},
): ApiError[] {
  return refusals.map(({ errorReason, errorSource }) => {
    const errorMessage = messages[errorReason];
    return {
      errorCode: refusalCodes[errorReason],
      errorReason,
      errorSource,
      ...(errorMessage === undefined ? {} : { errorMessage }),
    };
  });
}
