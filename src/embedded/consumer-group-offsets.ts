import { type Clock, type Timer, after } from '../clock.ts';
import { describeError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { Offset, TopicPartition } from '../ports/event-log.ts';
import type { GroupOffset, WriterRequests } from './thread/messages.ts';
import type { LogThread } from './thread/log-thread.ts';

/** How long exported positions may wait to be written together. Nothing depends on them after a crash. Milliseconds. */
const saveAfterMilliseconds = 1_000;

/** Positions of named groups, exported for lag tools. They are read from memory and written to the disk in batches. */
export class GroupOffsets {
  readonly #writer: LogThread<WriterRequests>;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #groups = new Map<string, Map<string, GroupOffset>>();
  #unsaved = new Set<GroupOffset>();
  #timer: Timer | undefined;

  constructor(writer: LogThread<WriterRequests>, saved: readonly GroupOffset[], clock: Clock, logger: Logger) {
    this.#writer = writer;
    this.#clock = clock;
    this.#logger = logger;
    for (const position of saved) this.#set(position);
  }

  export(group: string, positions: readonly (TopicPartition & { readonly offset: Offset })[]): void {
    for (const { topic, partition, offset } of positions) {
      const position = { group, topic, partition, offset };
      const replaced = this.#set(position);
      if (replaced !== undefined) this.#unsaved.delete(replaced);
      this.#unsaved.add(position);
    }
    this.#timer ??= after(this.#clock, saveAfterMilliseconds, () => void this.#save());
  }

  of(group: string): (TopicPartition & { readonly offset: Offset })[] {
    return [...(this.#groups.get(group)?.values() ?? [])].map(({ topic, partition, offset }) => ({
      topic,
      partition,
      offset,
    }));
  }

  forgetTopic(name: string): void {
    for (const positions of this.#groups.values()) {
      for (const [key, position] of positions) {
        if (position.topic !== name) continue;
        positions.delete(key);
        this.#unsaved.delete(position);
      }
    }
  }

  close(): Promise<void> {
    return this.#save();
  }

  #set(position: GroupOffset): GroupOffset | undefined {
    const positions = this.#groups.get(position.group) ?? new Map<string, GroupOffset>();
    this.#groups.set(position.group, positions);
    const key = `${position.topic}:${position.partition}`;
    const replaced = positions.get(key);
    positions.set(key, position);
    return replaced;
  }

  async #save(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    const offsets = [...this.#unsaved];
    this.#unsaved = new Set();
    if (offsets.length === 0) return;
    try {
      await this.#writer.call('saveGroupOffsets', { offsets });
    } catch (error) {
      this.#logger.warn({ error: describeError(error) }, 'Exported group offsets were not saved');
    }
  }
}
