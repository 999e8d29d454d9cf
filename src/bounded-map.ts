/** An entry, and its neighbours in the order of use. */
interface Entry<Key, Value> {
  readonly key: Key;
  value: Value;
  older: Entry<Key, Value> | undefined;
  newer: Entry<Key, Value> | undefined;
}

/**
 * A map with a limit, for caches and for what is remembered for a while. A new entry that exceeds the limit replaces
 * those that were set or read longest ago. Every call costs the same, however many entries there are. In a plain Map
 * the first key is found by passing over the places of all deleted ones: 16 µs at 10,000 entries.
 */
export class BoundedMap<Key, Value> {
  readonly #maximum: number;
  readonly #sizeOf: (value: Value) => number;
  #totalSize = 0;
  readonly #entries = new Map<Key, Entry<Key, Value>>();
  #oldest: Entry<Key, Value> | undefined;
  #newest: Entry<Key, Value> | undefined;

  /**
   * @param maximum How large all entries may be together, at least 1.
   * @param sizeOf The size of an entry, which must not change. Default: 1, so that `maximum` is the number of entries.
   */
  constructor(maximum: number, sizeOf: (value: Value) => number = () => 1) {
    this.#maximum = maximum;
    this.#sizeOf = sizeOf;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Returns the value and counts as a use of the entry. */
  get(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#moveToNewest(entry);
    return entry.value;
  }

  set(key: Key, value: Value): void {
    const known = this.#entries.get(key);
    if (known !== undefined) {
      this.#totalSize += this.#sizeOf(value) - this.#sizeOf(known.value);
      known.value = value;
      this.#moveToNewest(known);
    } else {
      const entry = { key, value, older: undefined, newer: undefined };
      this.#entries.set(key, entry);
      this.#totalSize += this.#sizeOf(value);
      this.#append(entry);
    }
    // An entry that is larger than the limit by itself stays until the next one comes.
    while (this.#totalSize > this.#maximum && this.#oldest !== undefined && this.#oldest !== this.#newest) {
      this.delete(this.#oldest.key);
    }
  }

  /** @returns whether there was an entry */
  delete(key: Key): boolean {
    const entry = this.#entries.get(key);
    if (entry === undefined) return false;
    this.#entries.delete(key);
    this.#totalSize -= this.#sizeOf(entry.value);
    this.#detach(entry);
    return true;
  }

  /** All entries, in no particular order. Reading them is no use of them. */
  *entries(): Iterable<[Key, Value]> {
    for (const { key, value } of this.#entries.values()) yield [key, value];
  }

  #moveToNewest(entry: Entry<Key, Value>): void {
    if (entry === this.#newest) return;
    this.#detach(entry);
    this.#append(entry);
  }

  #append(entry: Entry<Key, Value>): void {
    entry.older = this.#newest;
    entry.newer = undefined;
    if (this.#newest === undefined) this.#oldest = entry;
    else this.#newest.newer = entry;
    this.#newest = entry;
  }

  #detach({ older, newer }: Entry<Key, Value>): void {
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
  }
}
