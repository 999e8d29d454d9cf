import { toTimestamp, type Clock } from '../../clock.ts';
import { LendstreamError } from '../../errors.ts';
import type { EventLog, Offset } from '../../ports/event-log.ts';
import type { Registry } from '../definitions/registry.ts';

/** The queues of dead letters: of loan commands, and of events that subscriptions passed over. */
export const letterQueues = ['commands', 'subscriptions'] as const;

export type LetterQueue = (typeof letterQueues)[number];

/** Which letter: its place in the topic of its queue. */
export interface LetterPlace {
  readonly queue: LetterQueue;
  readonly partition: number;
  readonly offset: Offset;
}

/** That a person has dealt with a letter. */
export interface DealtWith {
  readonly at: string;
  /** What was done, for people. */
  readonly note: string;
}

interface StoredMark extends LetterPlace, DealtWith {}

/** The most letters that can be marked: every process keeps the marks in memory. */
export const dealtWithMaximum = 10_000;

/** The longest note. Characters. */
export const noteCharactersMaximum = 255;

/** The mark of a letter; null when nothing was done about it. */
export function markOf(registry: Registry, place: LetterPlace): DealtWith | null {
  const mark = registry.get<StoredMark>('dealt-with-letter', nameOf(place));
  return mark === undefined ? null : { at: mark.at, note: mark.note };
}

/**
 * Marks a letter as dealt with, on all processes and for as long as it is held.
 * @param topicOf The topic of a queue.
 * @param maximum How many letters can be marked. Default {@link dealtWithMaximum}.
 * @throws UNPROCESSABLE for a note that is too long, and when too many letters are marked
 */
export async function markDealtWith(
  services: { readonly registry: Registry; readonly log: Pick<EventLog, 'bounds'>; readonly clock: Clock },
  place: LetterPlace,
  note: string,
  topicOf: (queue: LetterQueue) => string,
  maximum = dealtWithMaximum,
): Promise<void> {
  const { registry, clock } = services;
  if (Array.from(note).length > noteCharactersMaximum) {
    throw new LendstreamError('UNPROCESSABLE', `A note has at most ${noteCharactersMaximum} characters.`);
  }
  await registry.catchUp();
  const name = nameOf(place);
  if (registry.get('dealt-with-letter', name) === undefined && registry.count('dealt-with-letter') >= maximum) {
    await removeExpired(services, topicOf);
    if (registry.count('dealt-with-letter') >= maximum) {
      throw new LendstreamError('UNPROCESSABLE', `At most ${maximum} letters can be marked as dealt with.`);
    }
  }
  const mark: StoredMark = { ...place, at: toTimestamp(clock.now()), note };
  await registry.put('dealt-with-letter', name, mark);
}

/** Removes the mark of a letter, if it has one. */
export async function unmark(registry: Registry, place: LetterPlace): Promise<void> {
  await registry.catchUp();
  const name = nameOf(place);
  if (registry.get('dealt-with-letter', name) !== undefined) await registry.remove('dealt-with-letter', name);
}

/** Removes the marks of letters that the log no longer holds. */
async function removeExpired(
  { registry, log }: { readonly registry: Registry; readonly log: Pick<EventLog, 'bounds'> },
  topicOf: (queue: LetterQueue) => string,
): Promise<void> {
  const marks = registry.list<StoredMark>('dealt-with-letter');
  const places = new Map(
    marks.map(({ queue, partition }) => [`${queue} ${partition}`, { topic: topicOf(queue), partition }]),
  );
  const keys = [...places.keys()];
  const bounds = await log.bounds([...places.values()]);
  const earliest = new Map(bounds.map((held, index) => [keys[index], held.earliest]));
  for (const mark of marks) {
    if (mark.offset >= (earliest.get(`${mark.queue} ${mark.partition}`) ?? 0)) continue;
    await registry.remove('dealt-with-letter', nameOf(mark));
  }
}

function nameOf({ queue, partition, offset }: LetterPlace): string {
  return `${queue}/${partition}/${offset}`;
}
