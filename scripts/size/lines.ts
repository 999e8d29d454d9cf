import { figure } from '../bench/statistics.ts';
import type { Limit, Need } from './estimate.ts';
import type { Part } from './rehearsal.ts';
import type { Weight } from './weighing.ts';

/** The output of size as tables in Markdown, so that docs/scale.md can show them as they are. */

/** A need whose amount is more than there can be is marked, with what would move that limit. */
export function linesOf(needs: readonly Need[]): string[] {
  const rows = needs.map(({ name, amount, unit, because, limit }) => [
    name,
    amount === undefined ? 'impossible' : `${textOf(amount)} ${unit}`,
    limit === undefined ? '' : limitText(amount, limit),
    because,
  ]);
  return table(['what', 'amount', 'at most', 'decided by'], rows);
}

function limitText(amount: number | undefined, limit: Limit): string {
  const most = textOf(limit.amount);
  return amount === undefined || amount <= limit.amount ? most : `**${most}, exceeded**: ${limit.movedBy}`;
}

/** What was weighed. */
export function weightLines(weights: readonly Weight[]): string[] {
  return table(
    ['what', 'each'],
    weights.map(({ name, amount, unit }) => [name, `${figure(amount)} ${unit}`]),
  );
}

/** What each part of a rehearsal cost, with a tenth of the subscriptions and with all. */
export function partLines(store: 'memory' | 'redis', small: readonly Part[], large: readonly Part[]): string[] {
  const of = store === 'redis' ? 'of Redis' : 'of the process';
  const rows = large.map((part, index) => {
    const before = small[index];
    return [
      part.name,
      figure(part.count),
      `${figure(before?.microsecondsEach ?? Number.NaN)} µs`,
      `${figure(part.microsecondsEach)} µs`,
      `${figure(part.bytesEach)} B`,
      `${figure(part.elapsedSeconds)} s`,
    ];
  });
  return table(
    ['what', 'count', `processor ${of} for each, a tenth`, 'with all', `memory ${of} for each`, 'elapsed'],
    rows,
  );
}

/** Whole numbers are counts, and have no digits after the point. Anything above nothing shows as more than 0. */
function textOf(amount: number): string {
  if (Number.isInteger(amount)) return amount.toLocaleString('en-US');
  return amount < 0.005 ? 'less than 0.01' : figure(amount);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((cell, column) => Math.max(cell.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(line)];
}
