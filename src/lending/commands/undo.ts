import type { ChargeUndo, InstallmentUndo, Loan, LoanPosition, PositionUndo } from '../loan.ts';
import { type Installment, findInstallment } from '../installments.ts';
import { Decimal } from '../money.ts';
import { isSettled } from '../fees/settled-fees.ts';
import { inOrder } from '../fees/charges.ts';

/**
 * The difference that turns the position of `after` back into `before`. Rows and charges that are the same object were
 * not touched. Of the others, only the fields that differ are in it.
 * @param after The loan while it still has the charges that the transaction settled.
 */
export function undoOf(before: LoanPosition, after: Loan): PositionUndo {
  const { installments } = before;
  const rows = after.position.installments;
  return {
    fields: {
      ...changedFields(before, after.position, listsOfPosition),
      ...(isFirstLock(before, after.position) && { lastLockedOn: null }),
    },
    addedInstallments: rows.map(({ key }) => key).filter((key) => findInstallment(installments, key) === undefined),
    installments: installments.flatMap((row) => rowUndo(row, findInstallment(rows, row.key))),
    charges: chargeUndo(before, after),
  };
}

/** Rows and charges have differences of their own. */
const listsOfPosition = ['installments', 'charges'] as const;

/**
 * The position before the transaction that `undo` was recorded for. `after` must be the position that followed it, with
 * the charges that the transaction settled.
 */
export function undone(after: LoanPosition, undo: PositionUndo): LoanPosition {
  const rows = new Map(after.installments.map((row) => [row.key, row]));
  for (const key of undo.addedInstallments) rows.delete(key);
  for (const { key, fields } of undo.installments) rows.set(key, { key, ...rows.get(key), ...fields } as Installment);
  const installments = [...rows.values()].sort((one, other) => one.number - other.number);
  const changed = new Set(undo.charges.map(({ number }) => number));
  const unchanged = after.charges.filter(({ number }) => !changed.has(number));
  const charges = inOrder([...unchanged, ...undo.charges.flatMap(({ before }) => before ?? [])]);
  const { lastLockedOn, ...others } = { ...after, ...undo.fields, installments, charges };
  return { ...others, ...(lastLockedOn !== null && lastLockedOn !== undefined && { lastLockedOn }) };
}

function isFirstLock(before: LoanPosition, after: LoanPosition): boolean {
  return before.lastLockedOn === undefined && after.lastLockedOn !== undefined;
}

/**
 * A charge that the transaction settled is in it, even when only time had to pass for that. Both lists of charges are
 * in the order of their numbers.
 */
function chargeUndo(before: LoanPosition, after: Loan): ChargeUndo[] {
  const changed: ChargeUndo[] = [];
  const removed: ChargeUndo[] = [];
  let index = 0;
  const passRemoved = (end: number): void => {
    for (let charge = before.charges[index]; charge !== undefined && charge.number < end;) {
      removed.push({ number: charge.number, before: charge, settled: null });
      charge = before.charges[(index += 1)];
    }
  };
  for (const charge of after.position.charges) {
    const { number } = charge;
    passRemoved(number);
    const found = before.charges[index];
    const earlier = found?.number === number ? found : null;
    if (earlier !== null) index += 1;
    const settled = isSettled(after, after.position, charge) ? charge : null;
    if (earlier !== charge || settled !== null) changed.push({ number, before: earlier, settled });
  }
  passRemoved(Infinity);
  return [...changed, ...removed];
}

/** Nothing for a row that has not changed. */
function rowUndo(before: Installment, after: Installment | undefined): InstallmentUndo[] {
  if (before === after) return [];
  const fields = changedFields(before, after, ['key']);
  return Object.keys(fields).length === 0 ? [] : [{ key: before.key, fields }];
}

/**
 * The fields of `before` that have another value in `after`; all of them without an `after`.
 * @param left The names of fields to leave out.
 */
function changedFields<Fields extends object, Left extends keyof Fields>(
  before: Fields,
  after: Fields | undefined,
  left: readonly Left[],
): Partial<Omit<Fields, Left>> {
  const changed: Partial<Fields> = {};
  for (const name of Object.keys(before) as (keyof Fields)[]) {
    if ((left as readonly (keyof Fields)[]).includes(name)) continue;
    if (after === undefined || !isSame(before[name], after[name])) changed[name] = before[name];
  }
  return changed;
}

function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (one instanceof Decimal || other instanceof Decimal) {
    // Zero and minus zero are equal, but are not written alike.
    return (
      one instanceof Decimal && other instanceof Decimal && one.equals(other) && one.isNegative() === other.isNegative()
    );
  }
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  const fields = one as Record<string, unknown>;
  const otherFields = other as Record<string, unknown>;
  const names = Object.keys(fields);
  return (
    names.length === Object.keys(otherFields).length && names.every((name) => isSame(fields[name], otherFields[name]))
  );
}
