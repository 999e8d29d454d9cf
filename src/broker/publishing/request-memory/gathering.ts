import { gatheredBytesMaximum, listedMaximum, type Part, type RequestMemory } from './request-memory.ts';

/**
 * Gathers parts of events of the loaded request, one event after another. What does not fit into the memory at once is
 * gathered in several turns.
 */
export class Gathering {
  /** Where what was gathered for each event ends in {@link bytes}; known when those are. */
  readonly ends: Uint32Array;
  readonly #memory: RequestMemory;
  /** How many commas are between two events. */
  readonly #between: number;
  /** How many events were gathered in turns before. */
  #earlierEvents = 0;
  /** What was gathered in turns before, each with the comma at its end, if there is one. */
  readonly #earlier: Buffer[] = [];
  #earlierBytes = 0;
  /** The most that is on the list. */
  #listedBytes = 0;
  #parts: readonly Part[] | undefined;
  #recipe = 0;
  #textBytes = 0;

  /**
   * Ends what was gathered before in the same memory.
   * @param count How many events will be added.
   * @param between What is between two events.
   */
  constructor(memory: RequestMemory, count: number, between: 'comma' | 'nothing') {
    this.ends = new Uint32Array(count);
    this.#memory = memory;
    this.#between = between === 'comma' ? 1 : 0;
    memory.clearList();
  }

  /**
   * Adds events, of which each has as many fields.
   * @param events Their numbers in the request, from one index to another one (exclusive).
   * @param bytesOf The most bytes that the parts of an event have, apart from the texts among them, by where its fields
   *   begin.
   * @param parts The same object for events that have the same.
   * @returns false when the memory has no room for them
   */
  addAll(
    events: Int32Array,
    from: number,
    to: number,
    fieldsOfEach: number,
    bytesOf: (field: number) => number,
    parts: readonly Part[],
  ): boolean {
    let bytes = 0;
    for (let index = from; index < to; index += 1) bytes += bytesOf((events[index] as number) * fieldsOfEach);
    // To list them at once costs less.
    if (this.#addTogether(events, from, to, fieldsOfEach, bytes, parts)) return true;
    for (let index = from; index < to; index += 1) {
      const field = (events[index] as number) * fieldsOfEach;
      if (!this.add(field, bytesOf(field), parts)) return false;
    }
    return true;
  }

  /**
   * Adds an event.
   * @param field Where its fields begin.
   * @param bytes The most bytes that its parts have, apart from the texts among them.
   * @param parts As for {@link addAll}.
   * @returns false when the memory has no room for it
   */
  add(field: number, bytes: number, parts: readonly Part[]): boolean {
    const memory = this.#memory;
    if (memory.listed === listedMaximum) this.#gatherTurn();
    if (parts !== this.#parts && !this.#use(parts)) return false;
    let most = bytes + this.#textBytes + 1;
    if (this.#listedBytes + most > gatheredBytesMaximum) {
      this.#gatherTurn();
      if (most > gatheredBytesMaximum || !this.#use(parts)) return false;
    }
    memory.list(field, this.#recipe);
    this.#listedBytes += most;
    return true;
  }

  /** All that was gathered, valid until the memory is used again. */
  bytes(): Buffer {
    const last = this.#gather();
    const all = this.#earlier.length === 0 ? last : Buffer.concat([...this.#earlier, last]);
    return all.subarray(0, Math.max(0, all.length - this.#between));
  }

  /** @returns false, and adds none of them, when there is no room for all at once */
  #addTogether(
    events: Int32Array,
    from: number,
    to: number,
    fieldsOfEach: number,
    bytes: number,
    parts: readonly Part[],
  ): boolean {
    const memory = this.#memory;
    if (memory.listed + to - from > listedMaximum || (parts !== this.#parts && !this.#use(parts))) return false;
    const most = bytes + (this.#textBytes + 1) * (to - from);
    if (this.#listedBytes + most > gatheredBytesMaximum) return false;
    memory.listAll(events, from, to, fieldsOfEach, this.#recipe);
    this.#listedBytes += most;
    return true;
  }

  #use(parts: readonly Part[]): boolean {
    let recipe = this.#memory.addRecipe(parts);
    if (recipe === undefined) {
      this.#gatherTurn();
      recipe = this.#memory.addRecipe(parts);
      if (recipe === undefined) return false;
    }
    this.#parts = parts;
    this.#recipe = recipe;
    this.#textBytes = 0;
    for (const part of parts) if (typeof part === 'string') this.#textBytes += part.length;
    return true;
  }

  /** Makes room for more. */
  #gatherTurn(): void {
    const gathered = Buffer.from(this.#gather());
    this.#earlier.push(gathered);
    this.#earlierBytes += gathered.length;
    this.#earlierEvents += this.#memory.listed;
    this.#memory.clearList();
    this.#listedBytes = 0;
    this.#parts = undefined;
  }

  #gather(): Buffer {
    const memory = this.#memory;
    if (memory.listed === 0) return Buffer.alloc(0);
    const gathered = memory.gather(this.#between);
    memory.writeEnds(this.ends, this.#earlierEvents, this.#earlierBytes);
    return gathered;
  }
}
