import type { ChargeUndo, InstallmentUndo, PositionUndo } from '../loan.ts';
import type { FeeCharge } from '../fees/charges.ts';
import { type Installment, type Portion, type TaxedPortion, nothing, nothingTaxed } from '../installments.ts';
import { type Decimal, zero } from '../money.ts';
import type { UnmovedPeriod } from '../terms.ts';
import { decimalOf, reviveMarked, writeMarked } from './decimal-json.ts';

/**
 * The rows, charges and other fields of a position as JSON. An account is written with each command, so what is zero,
 * null or follows from the row before is left out: a row of which nothing was paid takes about seventy bytes.
 *
 * A portion is a list: what is expected and, when it is not zero, what is paid (`["315.5","100"]`). The tax of a
 * portion has a field of its own (`interestTax`).
 */
type StoredPortion = readonly [expected: string, paid?: string];

interface StoredRow {
  /** Absent when it is the number. */
  readonly key?: number;
  readonly dueDate: string;
  /** Absent when it is the due date of the row before. */
  readonly accruesAfter?: string;
  /** Absent when it was not moved. */
  readonly unmoved?: UnmovedPeriod | null;
  readonly principal?: StoredPortion;
  readonly interest?: StoredPortion;
  readonly interestTax?: StoredPortion;
  readonly fee?: StoredPortion;
  readonly feeTax?: StoredPortion;
  readonly penalty?: StoredPortion;
  readonly penaltyTax?: StoredPortion;
  readonly interestAccrued?: string;
  readonly interestApplied?: string;
  readonly interestReduced?: string;
  readonly principalOverpaid?: string;
  readonly lastPaidDate?: string | null;
  readonly repaidDate?: string | null;
  readonly lastPenaltyAppliedDate?: string | null;
  readonly penaltyCalculatedTo?: string | null;
  readonly lateFeesDecidedOn?: string | null;
}

/** Rows of an account as parsed. The number of a row is its place in the account. */
export type StoredRows = readonly StoredRow[];

/** A charge as parsed. */
export interface StoredCharge extends Omit<FeeCharge, 'amount' | 'tax'> {
  readonly amount: StoredPortion;
  readonly tax?: StoredPortion;
}

/** An undo as parsed; its fields are marked. Of a row it has only the fields that were different, zeros included. */
export interface StoredUndo {
  readonly fields: PositionUndo['fields'];
  /** Runs of consecutive keys. */
  readonly addedInstallments: readonly (readonly [first: number, count: number])[];
  readonly installments: readonly (Partial<StoredRow> & { readonly key: number; readonly number?: number })[];
  readonly charges: readonly {
    readonly number: number;
    readonly before?: StoredCharge;
    readonly settled?: StoredCharge;
  }[];
}

/** The rows of an account as a JSON list. */
export function writeRows(rows: readonly Installment[]): string {
  let text = '';
  let dueDateBefore = '';
  for (const row of rows) {
    const key = row.key === row.number ? '' : `"key":${row.key},`;
    const accrual = row.accruesAfter === dueDateBefore ? '' : `,"accruesAfter":"${row.accruesAfter}"`;
    text += `${text === '' ? '' : ','}{${key}"dueDate":"${row.dueDate}"${accrual}${writtenAmounts(row)}}`;
    dueDateBefore = row.dueDate;
  }
  return `[${text}]`;
}

/** The rows that {@link writeRows} wrote. @param rowsBefore How many rows the account has before these. */
export function readRows(stored: StoredRows, rowsBefore = 0): Installment[] {
  let dueDateBefore = '';
  return stored.map((fields, index) => {
    const { dueDate, accruesAfter = dueDateBefore } = fields;
    dueDateBefore = dueDate;
    const number = rowsBefore + index + 1;
    return {
      key: fields.key ?? number,
      number,
      accruesAfter,
      dueDate,
      unmoved: fields.unmoved ?? null,
      principal: readPortion(fields.principal),
      interest: readTaxed(fields.interest, fields.interestTax),
      fee: readTaxed(fields.fee, fields.feeTax),
      penalty: readTaxed(fields.penalty, fields.penaltyTax),
      interestAccrued: decimalOf(fields.interestAccrued ?? '0'),
      interestApplied: decimalOf(fields.interestApplied ?? '0'),
      interestReduced: decimalOf(fields.interestReduced ?? '0'),
      principalOverpaid: decimalOf(fields.principalOverpaid ?? '0'),
      lastPaidDate: fields.lastPaidDate ?? null,
      repaidDate: fields.repaidDate ?? null,
      lastPenaltyAppliedDate: fields.lastPenaltyAppliedDate ?? null,
      penaltyCalculatedTo: fields.penaltyCalculatedTo ?? null,
      lateFeesDecidedOn: fields.lateFeesDecidedOn ?? null,
    };
  });
}

/** A row is replaced and never changed, so most rows of an account have been written before. */
const amountsOfRows = new WeakMap<Installment, string>();

function writtenAmounts(row: Installment): string {
  const known = amountsOfRows.get(row);
  if (known !== undefined) return known;
  const written = writeAmounts(row, false);
  amountsOfRows.set(row, written);
  return written;
}

/**
 * The fields of a row other than its due date and its start, each with a comma before it.
 * @param keepsDefaults Whether fields that are zero or null are written too. Fields that are undefined never are.
 */
function writeAmounts(row: Partial<Installment>, keepsDefaults: boolean): string {
  const { principal, interestAccrued, interestApplied, interestReduced, principalOverpaid } = row;
  const { lastPaidDate, repaidDate, lastPenaltyAppliedDate, penaltyCalculatedTo, unmoved } = row;
  const { lateFeesDecidedOn } = row;
  const portion = (name: string, value: Portion | undefined): string =>
    value === undefined || (!keepsDefaults && isNothing(value)) ? '' : `,"${name}":${writePortion(value)}`;
  const taxed = (name: string, value: TaxedPortion | undefined): string => {
    if (value === undefined || (!keepsDefaults && isNothing(value.amount) && isNothing(value.tax))) return '';
    const tax = isNothing(value.tax) ? '' : `,"${name}Tax":${writePortion(value.tax)}`;
    return `,"${name}":${writePortion(value.amount)}${tax}`;
  };
  const amount = (name: string, value: Decimal | undefined): string =>
    value === undefined || (!keepsDefaults && isZero(value)) ? '' : `,"${name}":"${value.valueOf()}"`;
  const date = (name: string, value: string | null | undefined): string =>
    value === undefined || (!keepsDefaults && value === null) ? '' : `,"${name}":${writeMarked(value)}`;
  const moved =
    unmoved === undefined || (!keepsDefaults && unmoved === null) ? '' : `,"unmoved":${JSON.stringify(unmoved)}`;
  const owed = portion('principal', principal) + taxed('interest', row.interest);
  const charged = taxed('fee', row.fee) + taxed('penalty', row.penalty);
  const earned = amount('interestAccrued', interestAccrued) + amount('interestApplied', interestApplied);
  const dates = date('lastPaidDate', lastPaidDate) + date('repaidDate', repaidDate);
  const changed = amount('interestReduced', interestReduced) + amount('principalOverpaid', principalOverpaid);
  const penalties =
    date('lastPenaltyAppliedDate', lastPenaltyAppliedDate) + date('penaltyCalculatedTo', penaltyCalculatedTo);
  const lateFees = date('lateFeesDecidedOn', lateFeesDecidedOn);
  return moved + owed + charged + earned + changed + dates + penalties + lateFees;
}

/** The charges of an account as a JSON list. */
export function writeCharges(charges: readonly FeeCharge[]): string {
  let text = '';
  for (const charge of charges) text += `${text === '' ? '' : ','}${writtenCharge(charge)}`;
  return `[${text}]`;
}

/** The charges that {@link writeCharges} wrote. */
export function readCharges(stored: readonly StoredCharge[]): FeeCharge[] {
  return stored.map(readCharge);
}

const writtenCharges = new WeakMap<FeeCharge, string>();

function writtenCharge(charge: FeeCharge): string {
  const known = writtenCharges.get(charge);
  if (known !== undefined) return known;
  const { amount, tax, ...fields } = charge;
  const taxText = isNothing(tax) ? '' : `,"tax":${writePortion(tax)}`;
  const written = `${writeMarked(fields).slice(0, -1)},"amount":${writePortion(amount)}${taxText}}`;
  writtenCharges.set(charge, written);
  return written;
}

function readCharge({ amount, tax, ...fields }: StoredCharge): FeeCharge {
  return { ...(reviveMarked(fields) as typeof fields), amount: readPortion(amount), tax: readPortion(tax) };
}

/** An undo as a JSON object. */
export function writeUndo({ fields, addedInstallments, installments, charges }: PositionUndo): string {
  const rows = installments.map(writeRowUndo).join(',');
  const undone = charges.map(writeChargeUndo).join(',');
  const added = `"addedInstallments":${JSON.stringify(runsOf(addedInstallments))}`;
  return `{"fields":${writeMarked(fields)},${added},"installments":[${rows}],"charges":[${undone}]}`;
}

/** The undo that {@link writeUndo} wrote. */
export function readUndo(stored: StoredUndo): PositionUndo {
  return {
    fields: reviveMarked(stored.fields) as PositionUndo['fields'],
    addedInstallments: stored.addedInstallments.flatMap(([first, count]) =>
      Array.from({ length: count }, (_, index) => first + index),
    ),
    installments: stored.installments.map(readRowUndo),
    charges: stored.charges.map(({ number, before, settled }) => ({
      number,
      before: before === undefined ? null : readCharge(before),
      settled: settled === undefined ? null : readCharge(settled),
    })),
  };
}

function writeChargeUndo({ number, before, settled }: ChargeUndo): string {
  const earlier = before === null ? '' : `,"before":${writtenCharge(before)}`;
  const left = settled === null ? '' : `,"settled":${writtenCharge(settled)}`;
  return `{"number":${number}${earlier}${left}}`;
}

/** Keys as runs of consecutive ones, because a disbursement adds all rows. */
function runsOf(keys: readonly number[]): [first: number, count: number][] {
  const runs: [first: number, count: number][] = [];
  for (const key of keys) {
    const run = runs.at(-1);
    if (run !== undefined && run[0] + run[1] === key) run[1] += 1;
    else runs.push([key, 1]);
  }
  return runs;
}

function writeRowUndo({ key, fields }: InstallmentUndo): string {
  const { number, accruesAfter, dueDate } = fields;
  const place = number === undefined ? '' : `,"number":${number}`;
  const start = accruesAfter === undefined ? '' : `,"accruesAfter":"${accruesAfter}"`;
  const end = dueDate === undefined ? '' : `,"dueDate":"${dueDate}"`;
  return `{"key":${key}${place}${start}${end}${writeAmounts(fields, true)}}`;
}

function readRowUndo({ key, ...stored }: StoredUndo['installments'][number]): InstallmentUndo {
  const { principal, interest, interestTax, fee, feeTax, penalty, penaltyTax, ...rest } = stored;
  const { interestAccrued, interestApplied, interestReduced, principalOverpaid, ...dates } = rest;
  return {
    key,
    fields: {
      ...dates,
      ...(principal === undefined ? {} : { principal: readPortion(principal) }),
      ...(interest === undefined ? {} : { interest: readTaxed(interest, interestTax) }),
      ...(fee === undefined ? {} : { fee: readTaxed(fee, feeTax) }),
      ...(penalty === undefined ? {} : { penalty: readTaxed(penalty, penaltyTax) }),
      ...(interestAccrued === undefined ? {} : { interestAccrued: decimalOf(interestAccrued) }),
      ...(interestApplied === undefined ? {} : { interestApplied: decimalOf(interestApplied) }),
      ...(interestReduced === undefined ? {} : { interestReduced: decimalOf(interestReduced) }),
      ...(principalOverpaid === undefined ? {} : { principalOverpaid: decimalOf(principalOverpaid) }),
    },
  };
}

/** Not minus zero, which is written as it is. */
function isZero(value: Decimal): boolean {
  return value === zero || (value.isZero() && value.isPositive());
}

function isNothing({ expected, paid }: Portion): boolean {
  return isZero(expected) && isZero(paid);
}

function writePortion({ expected, paid }: Portion): string {
  return isZero(paid) ? `["${expected.valueOf()}"]` : `["${expected.valueOf()}","${paid.valueOf()}"]`;
}

function readPortion(stored: StoredPortion | undefined): Portion {
  if (stored === undefined) return nothing;
  const [expected, paid = '0'] = stored;
  return { expected: decimalOf(expected), paid: decimalOf(paid) };
}

function readTaxed(amount: StoredPortion | undefined, tax: StoredPortion | undefined): TaxedPortion {
  return amount === undefined ? nothingTaxed : { amount: readPortion(amount), tax: readPortion(tax) };
}
