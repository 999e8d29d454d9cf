import { randomNumbers } from '../support/random-numbers.ts';

/** All random choices of one run. The same seed makes the same choices. */
export class Chance {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = randomNumbers(seed);
    // Consecutive seeds begin alike.
    for (let draw = 0; draw < 3; draw += 1) this.#random();
  }

  /** From 0 (included) to 1 (excluded). */
  next(): number {
    return this.#random();
  }

  /** @param probability From 0, never, to 1, always. */
  happens(probability: number): boolean {
    return this.#random() < probability;
  }

  /** A whole number from `from` to `to`, both included. */
  between(from: number, to: number): number {
    return from + Math.floor(this.#random() * (to - from + 1));
  }

  pick<Item>(items: readonly Item[]): Item | undefined {
    return items[Math.floor(this.#random() * items.length)];
  }

  uuid(): string {
    const digits = Array.from({ length: 4 }, () =>
      Math.floor(this.#random() * 0x1_0000_0000)
        .toString(16)
        .padStart(8, '0'),
    ).join('');
    return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-8${digits.slice(17, 20)}-${digits.slice(20)}`;
  }
}
