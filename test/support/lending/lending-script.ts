import { randomUUID } from 'node:crypto';
import { type TestCommand } from './lending-log.ts';
import { annuityProduct } from '../../../src/admin/example-product.ts';

/** A product with everything: fees inside and outside the schedule, taxes, custom repayments. */
export function richProduct(id: string, type: 'FIXED_TERM_LOAN' | 'DYNAMIC_TERM_LOAN'): TestCommand {
  return {
    type: 'CREATE_PRODUCT',
    id,
    payload: {
      ...annuityProduct(id),
      type,
      allowCustomRepaymentAllocation: true,
      feesSettings: {
        allowArbitraryFees: true,
        fees: [
          { id: 'visit', name: 'Visit', trigger: 'MANUAL', allocation: 'NO_ALLOCATION', amount: 15 },
          { id: 'opening', name: 'Opening', trigger: 'UPFRONT_DISBURSEMENT', amount: 7.5, feeApplication: 'REQUIRED' },
        ],
      },
      taxSettings: {
        taxRate: 19,
        taxCalculationMethod: 'EXCLUSIVE',
        taxesOnPenaltyEnabled: true,
        taxesOnInterestEnabled: true,
      },
    },
  };
}

/** The product with the permission of repayments dated ahead. */
export function acceptingFuturePayments(product: TestCommand): TestCommand {
  const paymentSettings = { prepaymentSettings: { futurePaymentsAcceptance: 'ACCEPT_FUTURE_PAYMENTS' } };
  return { ...product, payload: { ...product.payload, paymentSettings } };
}

/** The payload of PATCH_PRODUCT that sets these fields. */
export function productPatch(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return { operations: Object.entries(fields).map(([name, value]) => ({ op: 'REPLACE', path: `/${name}`, value })) };
}

/**
 * The life of a loan: opened, approved, disbursed, charged, repaid in part, adjusted. Every command is committed.
 * @param chargesOutside Whether a fee outside the schedule is charged, which a toggle has to allow.
 */
export function lifeOf(
  id: string,
  product: string,
  type: 'FIXED_TERM_LOAN' | 'DYNAMIC_TERM_LOAN',
  chargesOutside = false,
): TestCommand[] {
  const isFixed = type === 'FIXED_TERM_LOAN';
  const installment = isFixed ? { installmentNumber: 1 } : {};
  const command = (type: TestCommand['type'], payload: Record<string, unknown>): TestCommand => ({
    type,
    id,
    payload,
    commandId: randomUUID(),
  });
  return [
    command('CREATE_LOAN', {
      productTypeKey: product,
      loanAmount: 1000,
      accountHolderKey: 'holder',
      notes: 'Öl & "quotes"',
    }),
    command('CHANGE_STATE', { action: 'APPROVE' }),
    command('DISBURSE', { valueDate: '2025-09-12', firstRepaymentDate: '2025-10-12' }),
    command('APPLY_FEE', { amount: 50, valueDate: '2025-09-20', ...installment }),
    ...(chargesOutside ? [command('APPLY_FEE', { predefinedFeeKey: 'visit', valueDate: '2025-09-20' })] : []),
    ...[0.13, 0.13, 0.13].map((amount) =>
      command('APPLY_PENALTY', { amount, valueDate: '2025-09-21', ...installment }),
    ),
    command('REPAY', { amount: 100.07, valueDate: '2025-10-12', externalId: `first of ${id}` }),
    ...(chargesOutside
      ? [
          command('REPAY', {
            amount: 5,
            valueDate: '2025-10-12',
            customPaymentAmounts: [
              { customPaymentAmountType: 'NON_SCHEDULED_FEE', amount: 5, predefinedFeeKey: 'visit' },
            ],
          }),
        ]
      : []),
    ...(isFixed ? [] : [command('PRINCIPAL_OVERPAYMENT', { amount: 100, valueDate: '2025-10-20' })]),
    command('REPAY', { amount: 42, valueDate: '2025-10-21' }),
    command('ADJUST_TRANSACTION', {
      transactionId: `${id}-${(isFixed ? 7 : 8) + (chargesOutside ? 2 : 0)}`,
      notes: 'by mistake',
    }),
  ];
}
