import type { LocalDate } from '../../../src/lending/terms.ts';
import type { TermOptions } from './schedule-terms.ts';
import { fixedDays, intervals } from './schedule-terms.ts';

/** A published schedule, with its source. */
export interface PublishedSchedule {
  readonly name: string;
  readonly source: string;
  /** The figures that the source contains; the rest follows from its method. */
  readonly printed: string;
  readonly terms: TermOptions;
  readonly principal: string;
  readonly disbursementDate: LocalDate;
  readonly firstRepaymentDate?: LocalDate;
  /** `principal interest` of each row, or of the first rows where the source has only those. */
  readonly rows?: readonly string[];
  readonly payment?: string;
  readonly totalInterest?: string;
}

const interestMethods = 'https://support.mambu.com/v1/docs/en/interest-calculation-methods-in-loans';
const interestTypes = 'https://docs.mambu.com/docs/interest-types/';
const prepayments = 'https://support.mambu.com/docs/prepayment-recalculation-methods';
const secondHand = 'figures of the lending API user guide as restated in the tests of a public banking platform';
const fineract =
  'https://github.com/apache/fineract, integration-tests, ClientLoanIntegrationTest.verifyLoanRepaymentSchedule';
const excel = 'https://support.microsoft.com/office, worksheet functions ';
const numpy = 'https://numpy.org/numpy-financial/latest/';

const tenPercentAMonth = {
  interestRate: '10',
  interestChargeFrequency: 'EVERY_MONTH',
  daysInYear: 'ACTUAL_365_FIXED',
  scheduleInterestDaysCountMethod: 'REPAYMENT_PERIODICITY',
} as const;

export const publishedSchedules: readonly PublishedSchedule[] = [
  {
    name: '1000 over 4 months, flat',
    source: interestMethods,
    printed: 'terms and method',
    terms: { interest: { ...tenPercentAMonth, interestCalculationMethod: 'FLAT' } },
    principal: '1000',
    disbursementDate: '2011-01-23',
    rows: ['250.00 100.00', '250.00 100.00', '250.00 100.00', '250.00 100.00'],
    totalInterest: '400.00',
  },
  {
    name: '1000 over 4 months, declining balance',
    source: interestMethods,
    printed: 'terms and method',
    terms: { interest: { ...tenPercentAMonth, interestCalculationMethod: 'DECLINING_BALANCE' } },
    principal: '1000',
    disbursementDate: '2011-01-23',
    rows: ['250.00 100.00', '250.00 75.00', '250.00 50.00', '250.00 25.00'],
    totalInterest: '250.00',
  },
  {
    name: '1000 over 4 months, equal installments',
    source: interestMethods,
    printed: 'terms and method',
    terms: { interest: tenPercentAMonth },
    principal: '1000',
    disbursementDate: '2011-01-23',
    payment: '315.47',
    rows: ['215.47 100.00', '237.02 78.45', '260.72 54.75', '286.79 28.68'],
    totalInterest: '261.88',
  },
  {
    name: '1000 over 5 months, simple interest',
    source: interestTypes,
    printed: 'payment and first interest',
    terms: { repaymentInstallments: 5, interest: { interestRate: '10' } },
    principal: '1000',
    disbursementDate: '2020-01-01',
    payment: '205.03',
    rows: ['196.70 8.33', '198.34 6.69', '199.99 5.04', '201.66 3.37', '203.31 1.69'],
  },
  {
    name: '1000 over 5 months, compounding daily',
    source: interestTypes,
    printed: 'payment, first interest and first principal',
    terms: { repaymentInstallments: 5, interest: { interestRate: '10', interestType: 'COMPOUNDING_INTEREST' } },
    principal: '1000',
    disbursementDate: '2020-01-01',
    payment: '204.81',
    rows: ['196.84 7.97', '198.41 6.40', '199.99 4.82', '201.58 3.23', '203.18 1.62'],
  },
  {
    name: '1000 over 6 months, declining balance with a remainder',
    source: prepayments,
    printed: 'terms',
    terms: {
      repaymentInstallments: 6,
      interest: { interestRate: '10', interestCalculationMethod: 'DECLINING_BALANCE' },
    },
    principal: '1000',
    disbursementDate: '2017-01-21',
    rows: ['166.67 8.33', '166.67 6.94', '166.67 5.56', '166.67 4.17', '166.67 2.78', '166.65 1.39'],
  },
  {
    name: '120000 over 6 months, the first two paying interest alone',
    source: secondHand,
    printed: 'the first four rows',
    terms: {
      repaymentInstallments: 6,
      gracePeriodType: 'PAY_INTEREST_ONLY',
      gracePeriod: 2,
      interest: {
        interestRate: '1',
        interestChargeFrequency: 'EVERY_MONTH',
        interestCalculationMethod: 'DECLINING_BALANCE',
      },
    },
    principal: '120000',
    disbursementDate: '2026-01-12',
    rows: ['0.00 1200.00', '0.00 1200.00', '30000.00 1200.00', '30000.00 900.00', '30000.00 600.00', '30000.00 300.00'],
  },
  {
    name: '100000 over 4 months, payments in whole units',
    source: secondHand,
    printed: 'the first three totals, 25,628',
    terms: {
      interest: { interestRate: '1', interestChargeFrequency: 'EVERY_MONTH' },
      rounding: { repaymentCurrencyRounding: 'ROUND_TO_NEAREST_WHOLE_UNIT' },
    },
    principal: '100000',
    disbursementDate: '2026-01-12',
    payment: '25628.00',
    rows: ['24628.00 1000.00', '24874.28 753.72', '25123.02 504.98', '25374.70 253.75'],
  },
  {
    name: '10000 at 36 % whose first period of 61 days earns more than the payment',
    source: 'own figures by the published method',
    printed: 'nothing',
    terms: { repaymentInstallments: 24, interest: { interestRate: '36', daysInYear: 'ACTUAL_365_FIXED' } },
    principal: '10000',
    disbursementDate: '2026-01-01',
    firstRepaymentDate: '2026-03-03',
    payment: '590.47',
    rows: ['0.00 601.64'],
  },
  {
    name: '12000 over 4 months at 2 % a month',
    source: fineract,
    printed: 'every row',
    terms: { interest: { ...tenPercentAMonth, interestRate: '2' } },
    principal: '12000',
    disbursementDate: '2011-09-20',
    rows: ['2911.49 240.00', '2969.72 181.77', '3029.11 122.38', '3089.68 61.79'],
  },
  {
    name: '10000 over 10 months at 8 % a year',
    source: `${excel}PMT`,
    printed: 'the payment',
    terms: { repaymentInstallments: 10, interest: { interestRate: '8' } },
    principal: '10000',
    disbursementDate: '2024-01-01',
    payment: '1037.03',
  },
  {
    name: '8000 over 3 years at 10 %, monthly',
    source: `${excel}IPMT`,
    printed: 'the first interest',
    terms: { repaymentInstallments: 36, interest: { interestRate: '10' } },
    principal: '8000',
    disbursementDate: '2024-01-01',
    rows: ['191.47 66.67'],
  },
  {
    name: '8000 over 3 years at 10 %, yearly',
    source: `${excel}IPMT`,
    printed: 'the last interest',
    terms: {
      repaymentInstallments: 3,
      dueDates: intervals('YEARS'),
      interest: { interestRate: '10' },
    },
    principal: '8000',
    disbursementDate: '2024-01-01',
    rows: ['2416.92 800.00', '2658.61 558.31', '2924.47 292.45'],
  },
  {
    name: '2000 over 2 years at 10 %',
    source: `${excel}PPMT`,
    printed: 'the first principal',
    terms: { repaymentInstallments: 24, interest: { interestRate: '10' } },
    principal: '2000',
    disbursementDate: '2024-01-01',
    rows: ['75.62 16.67'],
  },
  {
    name: '200000 over 10 years at 8 %, yearly',
    source: `${excel}PPMT`,
    printed: 'the last principal, 27598.05 unrounded',
    terms: {
      repaymentInstallments: 10,
      dueDates: intervals('YEARS'),
      interest: { interestRate: '8' },
    },
    principal: '200000',
    disbursementDate: '2024-01-01',
    payment: '29805.90',
  },
  {
    name: '125000 over 30 years at 9 %',
    source: `${excel}CUMIPMT and CUMPRINC`,
    printed: 'the first interest and principal',
    terms: { repaymentInstallments: 360, interest: { interestRate: '9' } },
    principal: '125000',
    disbursementDate: '2024-01-01',
    rows: ['68.28 937.50'],
  },
  {
    name: '200000 over 15 years at 7.5 %',
    source: `${numpy}pmt.html`,
    printed: 'the payment',
    terms: { repaymentInstallments: 180, interest: { interestRate: '7.5' } },
    principal: '200000',
    disbursementDate: '2024-01-01',
    payment: '1854.02',
  },
  {
    name: '2500 over a year at 8.24 %',
    source: `${numpy}ipmt.html`,
    printed: 'every row of a schedule that never rounds: from the sixth on, one that rounds may differ by a cent',
    terms: { repaymentInstallments: 12, interest: { interestRate: '8.24' } },
    principal: '2500',
    disbursementDate: '2024-01-01',
    rows: ['200.58 17.17', '201.96 15.79', '203.35 14.40', '204.74 13.01', '206.15 11.60'],
  },
  {
    name: 'a mortgage of 100000 over 30 years at 6 %',
    source: 'the standard mortgage table',
    printed: 'payment and first row',
    terms: { repaymentInstallments: 360, interest: { interestRate: '6' } },
    principal: '100000',
    disbursementDate: '2024-01-01',
    payment: '599.55',
    rows: ['99.55 500.00', '100.05 499.50'],
  },
  {
    name: 'a mortgage of 200000 over 30 years at 6.5 %',
    source: 'https://en.wikipedia.org/wiki/Mortgage_calculator',
    printed: 'the payment',
    terms: { repaymentInstallments: 360, interest: { interestRate: '6.5' } },
    principal: '200000',
    disbursementDate: '2024-01-01',
    payment: '1264.14',
  },
  {
    name: 'a mortgage of 162000 over 30 years at 3.875 %',
    source: 'https://www.consumerfinance.gov/rules-policy/regulations/1026/h/, sample form H-25(B)',
    printed: 'the payment',
    terms: { repaymentInstallments: 360, interest: { interestRate: '3.875' } },
    principal: '162000',
    disbursementDate: '2013-04-15',
    payment: '761.78',
  },
  {
    name: '1500 at 0.8 % a day over five month ends, the first after four days',
    source: 'https://github.com/simontreanor/FSharp.Finance.Personal, amortisation examples',
    printed: 'the payment; it cuts interest to the cent below, so that its last payment is 456.84',
    terms: {
      repaymentInstallments: 5,
      dueDates: fixedDays([31]),
      amortizationMethod: 'OPTIMIZED_PAYMENTS',
      interest: { interestRate: '0.8', interestChargeFrequency: 'EVERY_DAY', daysInYear: 'ACTUAL_365_FIXED' },
    },
    principal: '1500',
    disbursementDate: '2022-11-26',
    payment: '456.88',
  },
];
