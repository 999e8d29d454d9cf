import { readFileSync } from 'node:fs';
import { nameOf, type Mutant, type MutantName } from './mutant.ts';

/** A mutant that no test can find, because the program does the same with it. */
export interface Equivalent extends Omit<MutantName, 'occurrence'> {
  /** Which of the places with the same text and change it is; default the first. */
  readonly occurrence?: number;
  /** Why no promise of the program is affected. */
  readonly reason: string;
}

/** Reads the list. @throws Error when an entry has no reason */
export function readEquivalents(path: string): readonly Equivalent[] {
  const list = JSON.parse(readFileSync(path, 'utf8')) as readonly Equivalent[];
  for (const { file, change, reason } of list) {
    if (typeof reason !== 'string' || reason === '') throw new Error(`${path}: ${file}: ${change} has no reason`);
  }
  return list;
}

/** The mutants that are not in the list. */
export function withoutEquivalents(mutants: readonly Mutant[], list: readonly Equivalent[]): readonly Mutant[] {
  const names = new Set(list.map(nameOfEquivalent));
  return mutants.filter((mutant) => !names.has(nameOf(mutant)));
}

/** The entries that match no mutant: their line was changed or removed. */
export function staleEquivalents(mutants: readonly Mutant[], list: readonly Equivalent[]): readonly Equivalent[] {
  const names = new Set(mutants.map(nameOf));
  return list.filter((entry) => !names.has(nameOfEquivalent(entry)));
}

function nameOfEquivalent({ occurrence = 1, ...entry }: Equivalent): string {
  return nameOf({ ...entry, occurrence });
}
