import { figure } from '../bench/statistics.ts';
import type { Need } from './estimate.ts';
import type { Part } from './rehearsal.ts';

/** The output of size as tables in Markdown, so that docs/scale.md can show them as they are. */

/** A need whose amount is more than the code can go to is marked. */
export function linesOf(needs: readonly Need[]): string[] {
  const rows = needs.map(({ name, amount, unit, because, limit }) => {
    const most = limit === undefined ? '' : textOf(limit);
    return [
      name,
      `${textOf(amount)} ${unit}`,
      limit !== undefined && amount > limit ? `${most}, exceeded` : most,
      because,
    ];
  });
  return table(['what', 'amount', 'at most', 'decided by'], rows);
}

/** What each part of a rehearsal cost, with a tenth of the subscriptions and with all. */
export function partLines(store: 'memory' | 'redis', small: readonly Part[], large: readonly Part[]): string[] {
  const of = store === 'redis' ? 'of Redis' : 'of the process';
  const rows = large.map((part, index) => {
    const before = small[index];
    return [
      part.name,
      figure(part.count),
      `${figure(before?.microsecondsEach ?? Number.NaN)} and ${figure(part.microsecondsEach)} µs`,
      `${figure(part.bytesEach)} B`,
      `${figure(part.elapsedSeconds)} s`,
    ];
  });
  return table(
    ['what', 'count', `processor ${of} for each, a tenth and all`, `memory ${of} for each`, 'elapsed'],
    rows,
  );
}

/** Whole numbers are counts, and have no digits after the point. */
function textOf(amount: number): string {
  return Number.isInteger(amount) ? amount.toLocaleString('en-US') : figure(amount);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((cell, column) => Math.max(cell.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(line)];
}
