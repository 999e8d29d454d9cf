import type { LoanPosition, PositionUndo } from './loan.ts';

/**
 * The difference that turns `after` back into `before`. Rows and charges are compared by identity: those that a
 * decision did not touch are the same objects.
 */
export function undoOf(before: LoanPosition, after: LoanPosition): PositionUndo {
  const { installments, charges, ...fields } = before;
  return {
    fields,
    installmentCount: installments.length,
    installments: installments.filter((row, index) => after.installments[index] !== row),
    chargeCount: charges.length,
    charges: charges.flatMap((charge, index) => (after.charges[index] === charge ? [] : [{ index, charge }])),
  };
}

/** The position before the transaction that `undo` was recorded for. `after` must be the position that followed it. */
export function undone(after: LoanPosition, undo: PositionUndo): LoanPosition {
  const installments = after.installments.slice(0, undo.installmentCount);
  for (const row of undo.installments) installments[row.number - 1] = row;
  const charges = after.charges.slice(0, undo.chargeCount);
  for (const { index, charge } of undo.charges) charges[index] = charge;
  return { ...undo.fields, installments, charges };
}
