import type { StoreOperation } from '../simulated-store.ts';
import type { StoreChange } from './store-change.ts';
import { Violation } from './violation.ts';

/** I7: generations only grow. */
export function checkGeneration({ before, after }: StoreChange): void {
  if (before !== undefined && after.topology.generation < before.topology.generation) {
    throw new Violation('I7: the generation of the topology went back');
  }
}

/** Whether the store may apply a change of ownership that begins now. */
export function mayApply({ topology, arguments: args }: StoreOperation): boolean {
  return args[1] === topology?.generation;
}

/** I7: an outdated compare-and-set fails. @param operation One that has succeeded. */
export function checkApplied({ method, result, isAllowed }: StoreOperation): void {
  if (method === 'applyOwnership' && result === 'applied' && !isAllowed) {
    throw new Violation('I7: a change of ownership was applied that was made for another generation');
  }
}
