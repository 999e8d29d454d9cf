import type { AdditionalFields, FieldValue } from '../additional-fields.ts';
import { Decimal } from '../money.ts';
import { type Refusal, refusal } from '../refusals.ts';
import { behaviourOf } from './product-behaviour.ts';
import type { LoanProduct } from './product.ts';

/** A setting that was sent with an account, with its text. The account cannot choose it: it repeats its product. */
export interface RepeatedSetting {
  /** Its place in the account, such as `interestSettings.interestType`. */
  readonly path: string;
  readonly text: string;
}

type SettingValue = string | number | boolean | Decimal;

interface SettingOfProduct {
  /** Where the product has it: the first of these places with a value. */
  readonly at: readonly string[];
  /** What holds where the product does not say; absent where nothing does. */
  readonly otherwise?: SettingValue | ((product: LoanProduct) => SettingValue | undefined);
}

const interest = (name: string): readonly string[] => [
  `interestSettings.${name}`,
  `interestSettings.indexRateSettings.${name}`,
];
const prepayment = (name: string): readonly string[] => [`paymentSettings.prepaymentSettings.${name}`];

const isAccrued = (product: LoanProduct): boolean => behaviourOf(product).interest === 'ACCRUED';

/** The settings of an account that its product decides, by their places in the account. */
const settings: Readonly<Record<string, SettingOfProduct>> = {
  allowOffset: { at: ['offsetSettings.allowOffset'], otherwise: false },
  'currency.code': { at: ['currency.code'] },
  'currency.currencyCode': { at: ['currency.code'] },
  futurePaymentsAcceptance: {
    at: prepayment('futurePaymentsAcceptance'),
    otherwise: 'NO_FUTURE_PAYMENTS',
  },
  latePaymentsRecalculationMethod: {
    at: ['paymentSettings.latePaymentsRecalculationMethod'],
    otherwise: 'OVERDUE_INSTALLMENTS_INCREASE',
  },
  modifyInterestForFirstInstallment: { at: ['adjustInterestForFirstInstallment'] },
  paymentMethod: { at: ['paymentSettings.paymentMethod'] },
  taxRate: { at: ['taxSettings.taxRate'] },
  'interestSettings.accrueInterestAfterMaturity': { at: interest('accrueInterestAfterMaturity'), otherwise: false },
  'interestSettings.accrueLateInterest': { at: interest('accrueLateInterest') },
  'interestSettings.interestApplicationMethod': {
    at: interest('interestApplicationMethod'),
    otherwise: (product) => (isAccrued(product) ? 'REPAYMENT_DUE_DATE' : 'AFTER_DISBURSEMENT'),
  },
  'interestSettings.interestBalanceCalculationMethod': {
    at: interest('interestBalanceCalculationMethod'),
    otherwise: 'ONLY_PRINCIPAL',
  },
  'interestSettings.interestCalculationMethod': { at: interest('interestCalculationMethod') },
  'interestSettings.interestChargeFrequency': { at: interest('interestChargeFrequency') },
  'interestSettings.interestRateSource': { at: interest('interestRateSource'), otherwise: 'FIXED_INTEREST_RATE' },
  'interestSettings.interestType': { at: interest('interestType') },
  'penaltySettings.loanPenaltyCalculationMethod': {
    at: ['penaltySettings.loanPenaltyCalculationMethod'],
    otherwise: 'NONE',
  },
  'prepaymentSettings.applyInterestOnPrepaymentMethod': {
    at: prepayment('applyInterestOnPrepaymentMethod'),
    otherwise: 'AUTOMATIC',
  },
  'prepaymentSettings.elementsRecalculationMethod': {
    at: prepayment('elementsRecalculationMethod'),
    otherwise: 'PRINCIPAL_EXPECTED_FIXED',
  },
  'prepaymentSettings.prepaymentRecalculationMethod': { at: prepayment('prepaymentRecalculationMethod') },
  'prepaymentSettings.principalPaidInstallmentStatus': {
    at: prepayment('principalPaidInstallmentStatus'),
    otherwise: 'PARTIALLY_PAID',
  },
  'scheduleSettings.gracePeriodType': { at: ['gracePeriodSettings.gracePeriodType'] },
  'scheduleSettings.repaymentScheduleMethod': {
    at: ['scheduleSettings.repaymentScheduleMethod'],
    otherwise: (product) => (isAccrued(product) ? 'DYNAMIC' : 'FIXED'),
  },
  'scheduleSettings.scheduleDueDatesMethod': { at: ['scheduleSettings.scheduleDueDatesMethod'] },
  'scheduleSettings.shortMonthHandlingMethod': {
    at: ['scheduleSettings.shortMonthHandlingMethod'],
    otherwise: ({ scheduleSettings }) =>
      scheduleSettings.scheduleDueDatesMethod === 'FIXED_DAYS_OF_MONTH' ? 'LAST_DAY_IN_MONTH' : undefined,
  },
  ...Object.fromEntries(
    [
      'dateCalculationMethod',
      'monthlyToleranceDay',
      'nonWorkingDaysMethod',
      'toleranceCalculationMethod',
      'toleranceFloorAmount',
      'tolerancePercentageOfOutstandingPrincipal',
      'tolerancePeriod',
    ].map((name) => [
      `accountArrearsSettings.${name}`,
      { at: [`arrearsSettings.${name}.defaultValue`, `arrearsSettings.${name}`] },
    ]),
  ),
};

/** The places of the settings that an account repeats. */
export const repeatedSettingPaths: readonly string[] = Object.keys(settings);

/** LOAN_PRODUCT_MISMATCH for each setting whose value is not the product's, with its path. */
export function refusalsOfSettings(product: LoanProduct, sent: readonly RepeatedSetting[]): Refusal[] {
  return sent
    .filter(({ path, text }) => !isSame(valueOf(product, path), text))
    .map(({ path }) => refusal('LOAN_PRODUCT_MISMATCH', path));
}

/** LOAN_PRODUCT_MISMATCH for assets and guarantors of an account under a product that does not allow them. */
export function refusalsOfSecurities(product: LoanProduct, { assets, guarantors }: AdditionalFields): Refusal[] {
  const allows = (name: string): boolean => settingAt(product, `securitySettings.${name}`) === true;
  return [
    ...(assets === undefined || allows('isCollateralEnabled') ? [] : [refusal('LOAN_PRODUCT_MISMATCH', 'assets')]),
    ...(guarantors === undefined || allows('isGuarantorsEnabled')
      ? []
      : [refusal('LOAN_PRODUCT_MISMATCH', 'guarantors')]),
  ];
}

/** The settings that accounts under a product show, at their places. */
export function shownSettings(product: LoanProduct): AdditionalFields {
  const known = shown.get(product);
  if (known !== undefined) return known;
  const fields: Record<string, FieldValue> = {};
  for (const path of repeatedSettingPaths) {
    const value = valueOf(product, path);
    if (value === undefined) continue;
    const [group = '', name] = path.split('.');
    if (name === undefined) fields[group] = value;
    else fields[group] = { ...(fields[group] as Record<string, FieldValue> | undefined), [name]: value };
  }
  shown.set(product, fields);
  return fields;
}

const shown = new WeakMap<LoanProduct, AdditionalFields>();

function valueOf(product: LoanProduct, path: string): SettingValue | undefined {
  const { at, otherwise } = settings[path] ?? { at: [] };
  for (const place of at) {
    const value = settingAt(product, place);
    if (value !== undefined) return value;
  }
  return typeof otherwise === 'function' ? otherwise(product) : otherwise;
}

/** The value at a place of a product; undefined for none, and for an object or a list. */
export function settingAt(product: LoanProduct, place: string): SettingValue | undefined {
  const names = place.split('.');
  for (const fields of [product, product.additionalFields]) {
    let value: unknown = fields;
    for (const name of names) value = isFields(value) ? value[name] : undefined;
    const isSetting = ['string', 'number', 'boolean'].includes(typeof value) || value instanceof Decimal;
    if (isSetting) return value as SettingValue;
  }
  return undefined;
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function isSame(value: SettingValue | undefined, text: string): boolean {
  if (typeof value === 'number' || value instanceof Decimal) {
    return /^-?\d{1,30}(?:\.\d{1,30})?$/.test(text) && new Decimal(text).equals(value);
  }
  return String(value) === text;
}
