import type { Installment, InstallmentUndo, LoanPosition, PositionUndo } from './loan.ts';
import { Decimal } from './money.ts';

/**
 * The difference that turns `after` back into `before`. Rows and charges that are the same object were not touched. Of
 * the others, only the fields that differ are in it.
 */
export function undoOf(before: LoanPosition, after: LoanPosition): PositionUndo {
  const { installments, charges, ...fields } = before;
  return {
    fields: changedFields(fields, after),
    installmentCount: installments.length,
    installments: installments.flatMap((row, index) => rowUndo(row, after.installments[index])),
    chargeCount: charges.length,
    charges: charges.flatMap((charge, index) => (after.charges[index] === charge ? [] : [{ index, charge }])),
  };
}

/** The position before the transaction that `undo` was recorded for. `after` must be the position that followed it. */
export function undone(after: LoanPosition, undo: PositionUndo): LoanPosition {
  const installments = after.installments.slice(0, undo.installmentCount);
  for (const { number, fields } of undo.installments) {
    installments[number - 1] = { ...installments[number - 1], number, ...fields } as Installment;
  }
  const charges = after.charges.slice(0, undo.chargeCount);
  for (const { index, charge } of undo.charges) charges[index] = charge;
  return { ...after, ...undo.fields, installments, charges };
}

/** Nothing for a row that has not changed. */
function rowUndo(before: Installment, after: Installment | undefined): InstallmentUndo[] {
  if (before === after) return [];
  const { number, ...fields } = before;
  const changed = after === undefined ? fields : changedFields(fields, after);
  return Object.keys(changed).length === 0 ? [] : [{ number, fields: changed }];
}

/** The fields of `before` that have another value in `after`. */
function changedFields<Fields extends object>(before: Fields, after: Fields): Partial<Fields> {
  const changed: Partial<Fields> = {};
  for (const name of Object.keys(before) as (keyof Fields)[]) {
    if (!isSame(before[name], after[name])) changed[name] = before[name];
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
