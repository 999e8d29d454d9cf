import type {
  ArrearsSettings,
  InternalControls,
  LockSettings,
  PenaltySettings,
} from '../../lending/products/product.ts';
import { type FieldReader, present } from './field-reader.ts';
import { boundedCount, boundedDecimal } from './bounded-values.ts';

const toleranceMethods = ['ARREARS_TOLERANCE_PERIOD', 'MONTHLY_ARREARS_TOLERANCE_DAY'] as const;
const dateCalculationMethods = [
  'ACCOUNT_FIRST_WENT_TO_ARREARS',
  'LAST_LATE_REPAYMENT',
  'ACCOUNT_FIRST_BREACHED_MATERIALITY_THRESHOLD',
] as const;
const penaltyMethods = [
  'NONE',
  'OVERDUE_BALANCE',
  'OVERDUE_BALANCE_AND_INTEREST',
  'OVERDUE_BALANCE_INTEREST_AND_FEE',
  'OUTSTANDING_PRINCIPAL',
] as const;

/** The settings of arrears of a product; undefined when it has none. */
export function readArrearsSettings(product: FieldReader): ArrearsSettings | undefined {
  const reader = product.object('arrearsSettings');
  reader.ignore('encodedKey');
  const settings = present({
    toleranceCalculationMethod: reader.choice('toleranceCalculationMethod', toleranceMethods),
    tolerancePeriod: optional(reader, 'tolerancePeriod', boundedCount),
    monthlyToleranceDay: dayOfMonth(reader, 'monthlyToleranceDay'),
    tolerancePercentageOfOutstandingPrincipal: optional(
      reader,
      'tolerancePercentageOfOutstandingPrincipal',
      boundedDecimal,
    ),
    toleranceFloorAmount: reader.decimal('toleranceFloorAmount'),
    dateCalculationMethod: reader.choice('dateCalculationMethod', dateCalculationMethods),
    nonWorkingDaysMethod: reader.choice('nonWorkingDaysMethod', ['INCLUDED', 'EXCLUDED']),
  });
  if (Object.keys(settings).length === 0) return undefined;
  const { toleranceCalculationMethod = 'ARREARS_TOLERANCE_PERIOD', monthlyToleranceDay } = settings;
  if (toleranceCalculationMethod === 'MONTHLY_ARREARS_TOLERANCE_DAY' && monthlyToleranceDay === undefined) {
    reader.refuse('monthlyToleranceDay');
  }
  return { ...settings, toleranceCalculationMethod };
}

/** The settings of penalties of a product; undefined when it has none. */
export function readPenaltySettings(product: FieldReader): PenaltySettings | undefined {
  const reader = product.object('penaltySettings');
  const settings = present({
    loanPenaltyCalculationMethod: reader.choice('loanPenaltyCalculationMethod', penaltyMethods),
    loanPenaltyGracePeriod: reader.count('loanPenaltyGracePeriod'),
    penaltyRate: optional(reader, 'penaltyRate', boundedDecimal),
  });
  if (Object.keys(settings).length === 0) return undefined;
  const { loanPenaltyCalculationMethod = 'NONE' } = settings;
  return { ...settings, loanPenaltyCalculationMethod };
}

/** What a product makes of accounts by itself; undefined when it is nothing. */
export function readInternalControls(reader: FieldReader): InternalControls | undefined {
  const controls = present({
    dormancyPeriodDays: reader.count('dormancyPeriodDays'),
    lockSettings: readLockSettings(reader),
  });
  return Object.keys(controls).length === 0 ? undefined : controls;
}

/** When accounts in arrears are locked; undefined when they never are. A cap needs all three of its settings. */
function readLockSettings(controls: FieldReader): LockSettings | undefined {
  const reader = controls.object('lockSettings');
  const settings = present({
    cappingConstraintType: reader.choice('cappingConstraintType', ['SOFT_CAP', 'HARD_CAP']),
    cappingMethod: reader.choice('cappingMethod', [
      'OUTSTANDING_PRINCIPAL_PERCENTAGE',
      'ORIGINAL_PRINCIPAL_PERCENTAGE',
    ]),
    cappingPercentage: reader.decimal('cappingPercentage'),
    lockPeriodDays: reader.count('lockPeriodDays'),
  });
  const names = ['cappingConstraintType', 'cappingMethod', 'cappingPercentage'] as const;
  if (names.some((name) => reader.has(name))) for (const name of names) reader.require(name, settings[name]);
  controls.keepEmptyObject('lockSettings');
  return Object.keys(settings).length === 0 ? undefined : settings;
}

function optional<Value extends object>(
  reader: FieldReader,
  name: string,
  read: (reader: FieldReader) => Value,
): Value | undefined {
  const inner = reader.object(name);
  inner.ignore('encodedKey');
  const value = read(inner);
  return Object.keys(value).length === 0 ? undefined : value;
}

function dayOfMonth(reader: FieldReader, name: string): number | undefined {
  const day = reader.count(name);
  if (day === undefined || (day >= 1 && day <= 31)) return day;
  reader.refuse(name);
  return undefined;
}
