import { policyAnnotation, sendCountAnnotation } from '../../src/broker/definitions/unprocessable-events.ts';
import type { Chance } from './chance.ts';
import { offsetOf } from './client.ts';
import type { ObservedLetter } from './invariants/passed-over-events.ts';

/** Events that the consumers of the simulation cannot process, and what the service does with them. */

interface FailingEvent {
  readonly number: number;
  /** How often a consumer of each subscription fails with it; absent from most events. */
  readonly fails?: number;
}

/** More often than any policy lets an event be sent. */
const always = 1_000_000;

/**
 * The text of an event.
 * @param kind What filters look at.
 * @param failing How likely it is one that consumers fail with.
 */
export function eventText(number: number, kind: number, failing: number, chance: Chance): string {
  if (failing === 0 || !chance.happens(failing)) return `{"number":${number},"kind":${kind}}`;
  return `{"number":${number},"kind":${kind},"fails":${chance.happens(0.6) ? always : chance.between(1, 9)}}`;
}

/** The annotations of a subscription with a policy. */
export function anyAnnotations(chance: Chance): Record<string, string> {
  return {
    [sendCountAnnotation]: String(chance.between(2, 3)),
    [policyAnnotation]: chance.happens(0.3) ? 'SKIP_EVENT' : 'DEAD_LETTER_QUEUE',
  };
}

/** How often the consumers of each subscription have failed. */
export class FailingConsumers {
  /** By subscription and event. */
  readonly #failures = new Map<string, number>();

  failsWith(subscriptionId: string, event: unknown): boolean {
    const { number, fails = 0 } = event as FailingEvent;
    if (fails === 0) return false;
    const key = `${subscriptionId}/${number}`;
    const failures = this.#failures.get(key) ?? 0;
    if (failures >= fails) return false;
    this.#failures.set(key, failures + 1);
    return true;
  }
}

interface StoredLetter {
  readonly metadata: { readonly eid: string };
  readonly subscription_id: string;
  readonly event_type: string;
  readonly partition: string;
  readonly offset: string;
}

const eventField = ',"event":';

/** A dead letter in the form that the invariants check. */
export function observedLetter(text: string): ObservedLetter {
  const letter = JSON.parse(text) as StoredLetter;
  return {
    subscriptionId: letter.subscription_id,
    eventType: letter.event_type,
    partition: Number(letter.partition),
    offset: offsetOf(letter.offset),
    eid: letter.metadata.eid,
    event: text.slice(text.indexOf(eventField) + eventField.length, -1),
  };
}
