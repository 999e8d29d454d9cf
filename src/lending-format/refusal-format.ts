import type { Schemas } from '../contract.ts';
import { type Refusal, type RefusalReason, refusalCodes } from '../lending/refusals.ts';

/** A refusal as the lending API shows it: `{"errors":[{errorCode, errorReason, errorSource}]}` holds these. */
export type ApiError = Schemas['ApiError'];

/** Messages for reasons whose name alone does not say what to change. */
const commonMessages: Readonly<Partial<Record<RefusalReason, string>>> = {
  FEATURE_DISABLED:
    'A fee whose allocation is NO_ALLOCATION can only be charged while the toggle ALLOW_NON_SCHEDULED_FEES is on.',
};

/** What a refusal is about when no single field is at fault: clients join the source with other texts. */
const accountSource = 'loanAccountId';

/**
 * Refusals as the lending API shows them.
 * @param messages In words, for reasons whose name does not say what to change.
 */
export function apiErrors(
  refusals: readonly Refusal[],
  messages: Readonly<Partial<Record<RefusalReason, string>>> = {},
): ApiError[] {
  return refusals.map(({ errorReason, errorSource }) => {
    const errorMessage = messages[errorReason] ?? commonMessages[errorReason];
    return {
      errorCode: refusalCodes[errorReason],
      errorReason,
      errorSource: errorSource ?? accountSource,
      ...(errorMessage === undefined ? {} : { errorMessage }),
    };
  });
}
