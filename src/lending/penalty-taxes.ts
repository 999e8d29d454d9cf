import { type Installment, type Portion, dueOf } from './installments.ts';
import type { Loan } from './loan.ts';
import { roundAmount, smaller } from './money.ts';
import { behaviourOf } from './products/product-behaviour.ts';
import { taxedAmount } from './taxes.ts';
import type { Toggles } from './toggle-names.ts';

/**
 * The tax of a row's penalties. Each penalty carries its own rounded tax. Under fixInstallmentTaxOnPenalty, where the
 * type of product says so, the tax still due is computed once from all the penalties due; the tax already paid stays.
 */
export function penaltyTax(loan: Loan, row: Installment, toggles: Toggles): Portion {
  const { product } = loan;
  const { taxSettings } = product;
  const summed = row.penalty.tax;
  const isDerived = toggles.fixInstallmentTaxOnPenalty && behaviourOf(product).taxOnPenalties === 'DERIVED';
  if (!isDerived || !taxSettings.taxesOnPenaltyEnabled) return summed;
  const grossDue = dueOf(row.penalty.amount);
  const base = taxSettings.taxCalculationMethod === 'EXCLUSIVE' ? grossDue.minus(dueOf(summed)) : grossDue;
  const mode = product.scheduleSettings.roundingSettings.roundingMode;
  const derived = taxedAmount(roundAmount(base, product.currency, mode), taxSettings, product.currency, mode).tax;
  return { expected: summed.paid.plus(smaller(derived, grossDue)), paid: summed.paid };
}
