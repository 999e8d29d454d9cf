import type { Router } from 'express';
import { awaitErasures } from '../../lending-format/personal-data/erasures.ts';
import { reachedBusinessDate } from '../../lending-format/stored-business-dates.ts';
import { LendstreamError } from '../../errors.ts';
import type { CommandType } from '../../lending-format/command-format.ts';
import type { CommandOutcome } from '../../lending-format/checkpoint.ts';
import {
  detailsLevels,
  writeAccount,
  writeLockTransactions,
  writeTransaction,
  writeTransactions,
} from '../../lending-format/response-bodies.ts';
import type { CommandRequests } from './command-requests.ts';
import { lendingMethodNotAllowed, transactionNotFound } from '../edge/lending-errors.ts';
import {
  choiceParameter,
  refuseUnknownParameters,
  lendingPage,
  pageParameters,
  setPageHeaders,
} from './lending-parameters.ts';
import type { LendingServices } from './services.ts';
import { existingLoan, loanAfter, loanIdOfPath } from './loan-lookup.ts';

/** The commands that post a transaction to a loan, by the last part of their path. */
const postingRoutes: Readonly<Record<string, CommandType>> = {
  'disbursement-transactions': 'DISBURSE',
  'repayment-transactions': 'REPAY',
  'fee-transactions': 'APPLY_FEE',
  'penalty-transactions': 'APPLY_PENALTY',
  'principal-overpayment-transactions': 'PRINCIPAL_OVERPAYMENT',
  'interest-reduction-transactions': 'REDUCE_INTEREST',
  'fee-reduction-transactions': 'REDUCE_FEES',
  'penalty-reduction-transactions': 'REDUCE_PENALTIES',
  'refund-transactions': 'REFUND',
};

/** The commands on transactions whose response has no body, by what follows the loan's id in their path. */
const actionRoutes: Readonly<Record<string, CommandType>> = {
  applyInterest: 'APPLY_INTEREST',
  payOff: 'PAY_OFF',
  writeOff: 'WRITE_OFF',
  undoWriteOff: 'UNDO_WRITE_OFF',
  undoReschedule: 'UNDO_RESCHEDULE',
  undoRefinance: 'UNDO_REFINANCE',
  terminate: 'TERMINATE',
  recalculateDueDates: 'RECALCULATE_DUE_DATES',
  erasePersonalData: 'ERASE_PERSONAL_DATA',
};

/** The commands that replace an account, whose response is the new one, by what follows the loan's id in their path. */
const replacingRoutes: Readonly<Record<string, CommandType>> = {
  reschedule: 'RESCHEDULE',
  refinance: 'REFINANCE',
};

/** The commands whose response lists their transactions, by the last part of their path. */
const lockRoutes: Readonly<Record<string, CommandType>> = {
  'lock-transactions': 'LOCK',
  'unlock-transactions': 'UNLOCK',
};

/** Adds the routes that post, undo and list the transactions of loans. */
export function addTransactionRoutes(router: Router, services: LendingServices, commands: CommandRequests): void {
  const { accounts, registry, partitionCount } = services;
  const textAfter = ({ commandId, loanAccountId = '', transactionKey = '' }: CommandOutcome): string => {
    const transaction = accounts.transactionText(loanAccountId, transactionKey);
    if (transaction !== undefined) return transaction;
    throw new LendstreamError('INTERNAL', `Command ${commandId} left no transaction to return.`);
  };
  const transactionAfter = async (outcome: CommandOutcome): Promise<string> =>
    writeTransaction(await loanAfter(services, outcome), textAfter(outcome));

  for (const [path, type] of Object.entries(postingRoutes)) {
    router
      .route(`/loans/:loanAccountId/${path}`)
      .post(
        commands.handler({
          type,
          successStatus: 201,
          subjectOf: async (request) => ({ loanAccountId: await loanIdOfPath(services, request) }),
          resourceOf: transactionAfter,
        }),
      )
      .all(lendingMethodNotAllowed('POST'));
  }

  for (const [path, type] of Object.entries(lockRoutes)) {
    router
      .route(`/loans/:loanAccountId/${path}`)
      .post(
        commands.handler({
          type,
          successStatus: 201,
          subjectOf: async (request) => ({ loanAccountId: await loanIdOfPath(services, request) }),
          resourceOf: async (outcome) => {
            const loan = await loanAfter(services, outcome);
            const last = textAfter(outcome);
            return writeLockTransactions(loan, last, (id) => accounts.transactionText(loan.id, id));
          },
        }),
      )
      .all(lendingMethodNotAllowed('POST'));
  }

  for (const [action, type] of Object.entries(actionRoutes)) {
    router
      .route(`/loans/:loanAccountId\\:${action}`)
      .post(
        commands.handler({
          type,
          successStatus: 204,
          subjectOf: async (request) => ({ loanAccountId: await loanIdOfPath(services, request) }),
          resourceOf: async () => {
            if (type === 'ERASE_PERSONAL_DATA') await awaitErasures(registry);
            return '';
          },
        }),
      )
      .all(lendingMethodNotAllowed('POST'));
  }

  for (const [action, type] of Object.entries(replacingRoutes)) {
    router
      .route(`/loans/:loanAccountId\\:${action}`)
      .post(
        commands.handler({
          type,
          successStatus: 200,
          subjectOf: async (request) => ({ loanAccountId: await loanIdOfPath(services, request) }),
          resourceOf: async (outcome) => {
            const old = await loanAfter(services, outcome);
            // A repeated request may come after the replacement was taken back.
            const opened = await accounts.find(old.position.rescheduledTo?.id ?? old.id);
            return writeAccount(opened ?? old, 'FULL', reachedBusinessDate(registry, partitionCount));
          },
        }),
      )
      .all(lendingMethodNotAllowed('POST'));
  }

  router
    .route('/loans/transactions/:transactionId\\:adjust')
    .post(
      commands.handler({
        type: 'ADJUST_TRANSACTION',
        successStatus: 200,
        subjectOf: async (request) => {
          const transactionId = String(request.params['transactionId']);
          const loanAccountId = await accounts.loanIdOfTransaction(transactionId);
          if (loanAccountId === undefined) throw transactionNotFound();
          return { loanAccountId, pathFields: { transactionId } };
        },
        resourceOf: transactionAfter,
      }),
    )
    .all(lendingMethodNotAllowed('POST'));

  router
    .route('/loans/transactions/:transactionId')
    .get(async (request, response) => {
      refuseUnknownParameters(request, 'detailsLevel');
      const detailsLevel = choiceParameter(request, 'detailsLevel', detailsLevels) ?? 'BASIC';
      const { transactionId } = request.params;
      const loanAccountId = await accounts.loanIdOfTransaction(transactionId);
      if (loanAccountId === undefined) throw transactionNotFound();
      const loan = await accounts.find(loanAccountId);
      const transaction = accounts.transactionText(loanAccountId, transactionId);
      if (loan === undefined || transaction === undefined) throw transactionNotFound();
      response.type('json').send(writeTransaction(loan, transaction, detailsLevel));
    })
    .all(lendingMethodNotAllowed('GET'));

  router
    .route('/loans/:loanAccountId/transactions')
    .get(async (request, response) => {
      refuseUnknownParameters(request, ...pageParameters, 'detailsLevel');
      const detailsLevel = choiceParameter(request, 'detailsLevel', detailsLevels) ?? 'BASIC';
      const loan = await existingLoan(services, request);
      const page = lendingPage(request);
      await setPageHeaders(response, page, () => accounts.transactionCount(loan.id));
      response.type('json').send(writeTransactions(loan, accounts.transactions(loan.id, page), detailsLevel));
    })
    .all(lendingMethodNotAllowed('GET'));
}
