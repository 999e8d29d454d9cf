/** Views of the definitions of one kind that cost no more when there are more of them. The registry keeps them. */

import type { RegistryKind } from './registry-kind.ts';

/** Finds definitions by something else than their name. */
export interface DefinitionIndex<Value> {
  readonly kind: RegistryKind;
  /** What a definition is found by; empty for one that is not found. */
  readonly keysOf: (value: Value) => readonly string[];
}

/** An order of definitions. */
export interface DefinitionOrder<Value> {
  readonly kind: RegistryKind;
  /** Negative when the left one comes first. Equal ones come in the order in which they were stored first. */
  readonly compare: (left: Value, right: Value) => number;
}

/** A definition before and after a change; undefined when there was or is none. */
export interface ValueChange {
  readonly before: unknown;
  readonly after: unknown;
}

/** The definitions of an index, by key. */
export class IndexedDefinitions<Value> {
  readonly #index: DefinitionIndex<Value>;
  readonly #byKey = new Map<string, Map<string, Value>>();

  /** @param entries The present definitions, by name. */
  constructor(index: DefinitionIndex<Value>, entries: Iterable<readonly [name: string, value: Value]>) {
    this.#index = index;
    for (const [name, value] of entries) this.#add(name, value);
  }

  /** The definitions with this key, in the order in which they got it. */
  get(key: string): Value[] {
    return [...(this.#byKey.get(key)?.values() ?? [])];
  }

  has(key: string): boolean {
    return this.#byKey.has(key);
  }

  change(name: string, { before, after }: ValueChange): void {
    const keys = new Set(after === undefined ? [] : this.#index.keysOf(after as Value));
    for (const key of before === undefined ? [] : this.#index.keysOf(before as Value)) {
      if (!keys.has(key)) this.#remove(key, name);
    }
    if (after !== undefined) this.#add(name, after as Value);
  }

  #add(name: string, value: Value): void {
    for (const key of this.#index.keysOf(value)) {
      const values = this.#byKey.get(key);
      if (values === undefined) this.#byKey.set(key, new Map([[name, value]]));
      else values.set(name, value);
    }
  }

  #remove(key: string, name: string): void {
    const values = this.#byKey.get(key);
    values?.delete(name);
    if (values?.size === 0) this.#byKey.delete(key);
  }
}

/** The definitions of a kind in one order. A change moves what comes after it, which is a copy of their references. */
export class SortedDefinitions<Value> {
  readonly #compare: (left: Value, right: Value) => number;
  readonly #values: Value[];

  /** @param values The present definitions, in the order in which they were stored first. */
  constructor({ compare }: DefinitionOrder<Value>, values: Iterable<Value>) {
    this.#compare = compare;
    this.#values = [...values].sort(compare);
  }

  /** All of them. The list changes with the definitions: copy what is needed longer than a turn of the event loop. */
  get values(): readonly Value[] {
    return this.#values;
  }

  change({ before, after }: ValueChange): void {
    const index =
      before === undefined ? -1 : this.#values.indexOf(before as Value, this.#placeOf(before as Value, 'before'));
    const isInPlace = index >= 0 && after !== undefined && this.#compare(before as Value, after as Value) === 0;
    if (isInPlace) {
      this.#values[index] = after as Value;
      return;
    }
    if (index >= 0) this.#values.splice(index, 1);
    if (after !== undefined) this.#values.splice(this.#placeOf(after as Value, 'after'), 0, after as Value);
  }

  /** Where a value belongs: before those that are equal to it, or after them. */
  #placeOf(value: Value, besideEqual: 'before' | 'after'): number {
    let [low, high] = [0, this.#values.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = this.#compare(this.#values[middle] as Value, value);
      if (order < 0 || (order === 0 && besideEqual === 'after')) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
