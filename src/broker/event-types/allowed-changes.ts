import { isDeepStrictEqual } from 'node:util';
import { LendstreamError } from '../../errors.ts';
import { checkAuthorizationChange } from '../definitions/authorization.ts';
import type { DefaultStatistic, EventType } from '../definitions/event-type.ts';
import type { EventTypeDefinition } from './requested-event-type.ts';

/**
 * Checks whether an event type may change to the definition. The schema is checked separately (see
 * schema-evolution.ts).
 * @returns the statistic after the change: it is fixed at creation, and leaving it out keeps it
 * @throws UNPROCESSABLE naming the first forbidden change
 */
export function checkChange(current: EventType, wanted: EventTypeDefinition): DefaultStatistic | null {
  const refuse = (reason: string): never => {
    throw new LendstreamError('UNPROCESSABLE', reason);
  };
  if (wanted.name !== current.name) refuse('path does not match resource name');
  if (wanted.category !== current.category) {
    const becomesBusiness = current.category === 'undefined' && wanted.category === 'business';
    if (!becomesBusiness)
      refuse(`changing the category from ${current.category} to ${wanted.category} is not possible`);
    if (wanted.compatibility_mode === 'compatible') {
      refuse('changing the category is not possible in compatibility mode compatible');
    }
  } else if (!isDeepStrictEqual([...wanted.enrichment_strategies], [...current.enrichment_strategies])) {
    refuse('changing enrichment strategies is not possible');
  }
  if (wanted.cleanup_policy !== current.cleanup_policy) {
    const addsCompaction = current.cleanup_policy === 'delete' && wanted.cleanup_policy === 'compact_and_delete';
    if (!addsCompaction) {
      refuse(`changing the cleanup policy from ${current.cleanup_policy} to ${wanted.cleanup_policy} is not possible`);
    }
  }
  checkAuthorizationChange(current.authorization, wanted.authorization);
  if (current.audience !== null && wanted.audience === null) refuse('the audience cannot be taken back');
  if (wanted.default_statistic !== null && !isDeepStrictEqual(wanted.default_statistic, current.default_statistic)) {
    refuse('default statistics must not be changed');
  }
  return current.default_statistic;
}
