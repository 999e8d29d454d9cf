import { randomNumbers } from '../../support/random-numbers.ts';

/** Random choices that are the same for the same seed. */
export class SeededRandom {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = randomNumbers(seed);
  }

  /** The random numbers of one request, independent of those of other requests. */
  static of(seed: number, index: number): SeededRandom {
    const mixed = Math.imul(seed ^ Math.imul(index + 1, 0x9e3779b1), 0x85ebca6b);
    return new SeededRandom(mixed ^ (mixed >>> 15));
  }

  /** From 0 (inclusive) to 1 (exclusive). */
  fraction(): number {
    return this.#random();
  }

  /** From 0 (inclusive) to `below` (exclusive). */
  integer(below: number): number {
    return Math.floor(this.#random() * below);
  }

  /** @param probability From 0 to 1. */
  chance(probability: number): boolean {
    return this.#random() < probability;
  }

  pick<Item>(items: readonly Item[]): Item {
    if (items.length === 0) throw new Error('There is nothing to choose from');
    return items[this.integer(items.length)] as Item;
  }

  /** One of several, with a probability by its weight. */
  weighted<Item>(items: readonly (readonly [weight: number, item: Item])[]): Item {
    let rest = this.#random() * items.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, item] of items) {
      rest -= weight;
      if (rest < 0) return item;
    }
    return this.pick(items)[1];
  }

  uuid(): string {
    const digits = Array.from({ length: 32 }, () => this.integer(16).toString(16)).join('');
    return digits.replace(/^(.{8})(.{4}).(.{3})(.{4})(.{12}).*$/, '$1-$2-4$3-$4-$5');
  }
}
