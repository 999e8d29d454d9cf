import type { Loan } from './loan.ts';
import { Decimal } from './money.ts';

/** Version of the stored form: a reader that does not know it must not guess. */
const formatVersion = 1;

/** A text that starts with this is a decimal; a text that did so by itself has it twice. */
const decimalMark = '#';

/**
 * A loan as one line of JSON in which each decimal keeps every digit: `decodeLoan(encodeLoan(loan))` equals `loan`.
 */
export function encodeLoan(loan: Loan): string {
  return `{"version":${formatVersion},"loan":${write(loan)}}`;
}

/**
 * Reads what {@link encodeLoan} wrote.
 * @throws Error when the text is something else: the changelog is broken and no command may be decided on it
 */
export function decodeLoan(text: string): Loan {
  const stored = JSON.parse(text) as { version?: unknown; loan?: unknown };
  if (stored.version !== formatVersion || typeof stored.loan !== 'object' || stored.loan === null) {
    throw new Error(`not a stored loan of format ${formatVersion}`);
  }
  return revive(stored.loan) as Loan;
}

function write(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.startsWith(decimalMark) ? decimalMark + value : value);
  if (value instanceof Decimal) return `"${decimalMark}${value.valueOf()}"`;
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(([, field]) => field !== undefined);
    return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${write(field)}`).join(',')}}`;
  }
  return JSON.stringify(value);
}

/** In place: the tree was just parsed and belongs to nobody else. */
function revive(value: unknown): unknown {
  if (typeof value === 'string') {
    if (!value.startsWith(decimalMark)) return value;
    return value.startsWith(decimalMark + decimalMark) ? value.slice(1) : new Decimal(value.slice(1));
  }
  if (typeof value === 'object' && value !== null) {
    const fields = value as Record<string, unknown>;
    for (const name of Object.keys(fields)) fields[name] = revive(fields[name]);
  }
  return value;
}
