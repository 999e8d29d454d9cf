import type { CommandOutcome } from '../../../src/lending-format/checkpoint.ts';
import type { EventLog } from '../../../src/ports/event-log.ts';
import { type Json, allEvents, deadLetters, outcomesOf } from './lending-log.ts';

/** What a worker wrote into a log of one partition. */
export interface LendingStory {
  readonly events: Json[];
  readonly outcomes: CommandOutcome[];
  readonly deadLetters: Json[];
}

/** The content of the log, without the parts that depend on when a worker ran. */
export async function storyOf(log: EventLog): Promise<LendingStory> {
  const events = (await allEvents(log)).map((event) => {
    const { received_at: _, ...metadata } = event['metadata'] as Json;
    return { ...event, metadata };
  });
  return { events, outcomes: await outcomesOf(log), deadLetters: (await deadLetters(log)).map(withoutTime) };
}

function withoutTime(letter: Json): Json {
  return { ...letter, appendedAt: 'some time' };
}
