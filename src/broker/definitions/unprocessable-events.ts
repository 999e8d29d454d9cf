import type { FieldViolation } from '../../errors.ts';
import type { KeyedTexts } from './annotations-and-labels.ts';

/** The policy of a subscription for events that its consumer cannot process, as its annotations state it. */

/** The event type that holds dead letters. */
export const deadLetterQueue = 'nakadi.dead.letter.queue';

export const sendCountAnnotation = 'nakadi.zalando.org/subscription-max-event-send-count';

export const policyAnnotation = 'nakadi.zalando.org/subscription-unprocessable-event-policy';

/** How often an event may be sent without a commit before it counts as unprocessable, at least and at most. */
export const eventSendsMinimum = 2;

export const eventSendsMaximum = 10;

const policies = ['SKIP_EVENT', 'DEAD_LETTER_QUEUE'] as const;

export interface UnprocessableEventPolicy {
  /** How often a batch may fail before its events are sent one by one, and an event before it is passed over. */
  readonly sendsMaximum: number;
  /** Whether an event that is passed over is written to {@link deadLetterQueue} first. */
  readonly keepsDeadLetters: boolean;
}

/** The policy that these annotations state; undefined when they state none. */
export function unprocessableEventPolicy(annotations: KeyedTexts): UnprocessableEventPolicy | undefined {
  const { sends, policy } = stated(annotations);
  if (sends === null || policy === null || statedViolation(annotations) !== undefined) return undefined;
  return { sendsMaximum: Number(sends), keepsDeadLetters: policy === 'DEAD_LETTER_QUEUE' };
}

/** @returns the rule that the policy breaks, in Nakadi's words where it has some */
export function policyViolations(annotations: KeyedTexts, eventTypes: readonly string[]): FieldViolation[] {
  const message = statedViolation(annotations) ?? cycleViolation(annotations, eventTypes);
  return message === undefined ? [] : [{ field: 'annotations', message }];
}

function stated(annotations: KeyedTexts) {
  return { sends: annotations[sendCountAnnotation] ?? null, policy: annotations[policyAnnotation] ?? null };
}

function statedViolation(annotations: KeyedTexts): string | undefined {
  const { sends, policy } = stated(annotations);
  if (sends !== null) {
    if (!/^[+-]?\d{1,9}$/.test(sends)) return `${sendCountAnnotation} must be an integer`;
    if (Number(sends) < eventSendsMinimum || Number(sends) > eventSendsMaximum) {
      return `${sendCountAnnotation} must be between ${eventSendsMinimum} and ${eventSendsMaximum}`;
    }
    if (policy === null) return `${policyAnnotation} must be also set when setting ${sendCountAnnotation}`;
  }
  if (policy === null) return undefined;
  if (!policies.some((known) => known === policy)) return `${policyAnnotation} must be one of: ${policies.join(', ')}`;
  if (sends === null) return `${sendCountAnnotation} must be also set when setting ${policyAnnotation}`;
  return undefined;
}

/** A dead letter that fails again would become another one in the queue that it came from, for ever. */
function cycleViolation(annotations: KeyedTexts, eventTypes: readonly string[]): string | undefined {
  if (stated(annotations).policy !== 'DEAD_LETTER_QUEUE' || !eventTypes.includes(deadLetterQueue)) return undefined;
  return `${policyAnnotation} must not be DEAD_LETTER_QUEUE for a subscription of ${deadLetterQueue} itself`;
}
