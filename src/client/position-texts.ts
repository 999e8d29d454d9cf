import type { Position } from './types.ts';

/**
 * The longest list of positions that is sent as it is. With a longer one, the headers of a request could exceed what
 * services and proxies accept. Characters.
 */
export const listCharactersMaximum = 6_000;

/** An offset of the service, without the zeros before its digits. */
const offsetForm = /^001-0001-(?:(-1)|0*(\d+))$/;

/**
 * Where a stream of an event type begins, as a header has it: a list in JSON or, where that is long, the shorter form
 * that docs/api.md describes. A time has no shorter form.
 */
export function positionsText(positions: readonly Position[]): string {
  const list = JSON.stringify(positions.map(({ partition, offset }) => ({ partition, offset })));
  return list.length <= listCharactersMaximum ? list : (shortText(positions) ?? list);
}

function shortText(positions: readonly Position[]): string | undefined {
  const parts: string[] = [];
  let next: number | undefined;
  for (const { partition, offset } of positions) {
    const [, beforeFirst, digits] = offsetForm.exec(offset) ?? [];
    const number = offset === 'BEGIN' ? '-1' : (beforeFirst ?? digits);
    if (number === undefined) return undefined;
    if (Number(partition) !== next) parts.push(`p${partition}`);
    parts.push(number);
    next = Number(partition) + 1;
  }
  return parts.join('.');
}
