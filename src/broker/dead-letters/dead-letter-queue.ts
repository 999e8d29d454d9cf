/**
 * Dead letters: the events that subscriptions pass over because their consumers cannot process them.
 * In: an event, its place and the reason. Out: an event of `nakadi.dead.letter.queue`, to which any application may
 * subscribe.
 * Start with `DeadLetterQueue` below; `dead-letter-text.ts` makes the text of a letter.
 */

import { toTimestamp, type Clock } from '../../clock.ts';
import { loadSchema } from '../../schema-files.ts';
import type { SystemEventType } from '../definitions/event-type.ts';
import { deadLetterQueue } from '../definitions/unprocessable-events.ts';
import type { Publisher } from '../publishing/publisher.ts';
import type { DeadLetter, DeadLetters } from '../streaming/unprocessable-events.ts';
import { deadLetterEid, deadLetterFields } from './dead-letter-text.ts';

/** So many consumers can share the queue. The letters of one subscription are in one partition, in order. */
const partitionCount = 4;

/** How long a letter is kept for a person to look at. Milliseconds. */
const retentionMilliseconds = 90 * 24 * 3_600_000;

/** The event type of the queue, to be registered at start. */
export function deadLetterEventType(): SystemEventType {
  return {
    name: deadLetterQueue,
    schema: loadSchema('events/dead-letter.json'),
    partitionCount,
    partitionKeyFields: ['subscription_id'],
    retentionMilliseconds,
    writtenByServiceAlone: true,
  };
}

/** The queue of all dead letters. */
export class DeadLetterQueue implements DeadLetters {
  readonly #publisher: Publisher;
  readonly #clock: Clock;

  constructor({ publisher, clock }: { readonly publisher: Publisher; readonly clock: Clock }) {
    this.#publisher = publisher;
    this.#clock = clock;
  }

  async write(letter: DeadLetter): Promise<void> {
    const eid = deadLetterEid(letter);
    const event = {
      eid,
      occurredAt: toTimestamp(this.#clock.now()),
      keyFields: [letter.subscriptionId],
      fieldsText: deadLetterFields(letter),
    };
    await this.#publisher.publishPrepared(deadLetterQueue, event, { flowId: eid, publishedBy: 'lendstream' });
  }
}
