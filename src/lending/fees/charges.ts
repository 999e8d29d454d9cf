import { type Installment, type Portion, findInstallment, unpaid } from '../installments.ts';
import { type Decimal, zero } from '../money.ts';
import { behaviourOf } from '../products/product-behaviour.ts';
import {
  type FeeAllocation,
  type FeeTrigger,
  type LoanProduct,
  type ProductFee,
  isForDueDates,
} from '../products/product.ts';
import type { AgreedTerms, LocalDate } from '../terms.ts';
import { taxWithin, taxedAmount } from '../taxes.ts';

/** One fee charged to the account. */
export interface FeeCharge {
  /** Counts the fees of the account in the order they were charged, from 1. */
  readonly number: number;
  readonly encodedKey: string;
  /** Null for an arbitrary fee. */
  readonly predefinedFeeKey: string | null;
  readonly feeName: string;
  readonly trigger: FeeTrigger;
  readonly allocation: FeeAllocation;
  /** The key of the installment it joined; null for a deducted, capitalised or non-scheduled fee. */
  readonly installmentKey: number | null;
  readonly amount: Portion;
  readonly tax: Portion;
}

/** The charges in the order they were charged. */
export function inOrder(charges: readonly FeeCharge[]): FeeCharge[] {
  return charges.toSorted((one, other) => one.number - other.number);
}

/** Whether a charge is asked for outside the rows. A capitalised fee is part of the rows' principal. */
export function isOutsideRows({ installmentKey, trigger }: FeeCharge): boolean {
  return installmentKey === null && trigger !== 'CAPITALIZED_DISBURSEMENT';
}

/** Fees paid in the ordinary way or deducted at disbursement. A capitalised fee is paid as principal. */
export function isPaidAsFee({ allocation, trigger }: FeeCharge): boolean {
  return allocation === 'INSTALLMENT' && trigger !== 'CAPITALIZED_DISBURSEMENT';
}

/** The parts of a loan that decide about its fees. */
interface ChargedLoan {
  readonly product: LoanProduct;
}

/** The rows of a position, and the day that they are known up to. */
interface RowsAsOf {
  readonly installments: readonly Installment[];
  readonly asOf: LocalDate | null;
}

/**
 * Whether a fee is only planned: a fee for a due date that is applied on that date and owed from then on. Where rows,
 * fees included, are owed as agreed at the disbursement, no fee is planned.
 */
export function isPlanned({ product }: ChargedLoan, position: RowsAsOf, charge: FeeCharge): boolean {
  return behaviourOf(product).dueDateFees === 'FROM_DUE_DATE' && isNotYetDue(charge, position);
}

/** A fee planned for a due date is due on that date. Every other fee is due when it is applied. */
export function isNotYetDue(charge: FeeCharge, { installments, asOf }: RowsAsOf): boolean {
  if (!isForDueDates(charge) || charge.installmentKey === null) return false;
  const row = findInstallment(installments, charge.installmentKey);
  return row !== undefined && (asOf === null || row.dueDate > asOf);
}

/** A charge that the ledger has not numbered yet. */
export type UnnumberedCharge = Omit<FeeCharge, 'number'>;

interface NewCharge {
  readonly encodedKey: string;
  readonly fee: ProductFee | null;
  readonly allocation: FeeAllocation;
  /** Before tax is added, or including the tax it contains. */
  readonly net: Decimal;
  readonly installmentKey: number | null;
}

/** An unpaid charge of this fee, with the product's tax on fees. */
export function newCharge(
  { product, terms }: ChargedLoan & { readonly terms: AgreedTerms },
  { encodedKey, fee, allocation, net, installmentKey }: NewCharge,
): UnnumberedCharge {
  const { taxSettings, currency } = product;
  const { owed, tax } = taxSettings.taxesOnFeesEnabled
    ? taxedAmount(net, taxSettings, currency, terms.rounding.roundingMode)
    : { owed: net, tax: zero };
  return {
    encodedKey,
    predefinedFeeKey: fee?.encodedKey ?? null,
    feeName: fee?.name ?? 'Arbitrary fee',
    trigger: fee?.trigger ?? 'ARBITRARY',
    allocation,
    installmentKey,
    amount: unpaid(owed),
    tax: unpaid(tax),
  };
}

/** The charge cut to an amount with its tax in it. */
export function cutCharge(
  { product, terms }: ChargedLoan & { readonly terms: AgreedTerms },
  charge: UnnumberedCharge,
  owed: Decimal,
): UnnumberedCharge {
  const { taxSettings, currency } = product;
  const tax = taxSettings.taxesOnFeesEnabled
    ? taxWithin(owed, taxSettings, currency, terms.rounding.roundingMode)
    : zero;
  return { ...charge, amount: unpaid(owed), tax: unpaid(tax) };
}

/** A charge as listed in its transaction. */
export function transactionFee(added: UnnumberedCharge): {
  readonly predefinedFeeKey: string | null;
  readonly feeName: string;
  readonly trigger: FeeCharge['trigger'];
  readonly amount: Decimal;
  readonly tax: Decimal;
} {
  const { predefinedFeeKey, feeName, trigger, amount, tax } = added;
  return { predefinedFeeKey, feeName, trigger, amount: amount.expected, tax: tax.expected };
}
