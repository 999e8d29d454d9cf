import type { Response } from 'express';
import type { ExceededLimit } from '../../access/limits/too-many-requests.ts';
import type { LendstreamError } from '../../errors.ts';
import { usageOf } from './limits/usage-of-response.ts';

/** Why requests are refused, by their status. Each is a series of the metric. */
export const refusalReasons = {
  401: ['no_credentials', 'invalid_credentials', 'stream_token'],
  403: ['permission', 'definition'],
  429: [
    'requests_per_second',
    'commits_per_second',
    'body_bytes_in_flight',
    'open_streams',
    'failed_logins',
    'address_requests_per_second',
  ],
} as const;

/** Counts refusals. */
export interface RefusalCounter {
  inc(labels: { readonly status: string | number; readonly reason: string }, count?: number): void;
}

/** The reason of an error, where it is no limit. */
type OwnReason = (typeof refusalReasons)[401 | 403][number];

/** What an error has among its details, for {@link countRefusal}. */
export function becauseOf(reason: OwnReason): { readonly refusalReason: OwnReason } {
  return { refusalReason: reason };
}

/** Begins each series at 0: an alert sees no increase in a series that begins with its first refusal. */
export function beginRefusals(counter: RefusalCounter): void {
  for (const [status, reasons] of Object.entries(refusalReasons)) {
    for (const reason of reasons) counter.inc({ status, reason }, 0);
  }
}

/** Counts a request that was refused by its credentials, its rights or a limit. Any other error is not counted. */
export function countRefusal(counter: RefusalCounter, error: LendstreamError, response: Response): void {
  const { code, status, details } = error;
  if (code === 'TOO_MANY_REQUESTS') {
    const { name } = details['exceeded'] as ExceededLimit;
    // An address has a limit of the same name.
    const isOfAddress = name === 'requests_per_second' && usageOf(response) === undefined;
    counter.inc({ status, reason: isOfAddress ? `address_${name}` : name });
  } else if (code === 'UNAUTHORIZED' || code === 'PERMISSION_MISSING') {
    const fallback: OwnReason = code === 'UNAUTHORIZED' ? 'invalid_credentials' : 'definition';
    counter.inc({ status, reason: (details['refusalReason'] as OwnReason | undefined) ?? fallback });
  }
}
