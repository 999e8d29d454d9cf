/**
 * The lending API: one router for each resource.
 * In: requests about loans, products, toggles and commands. Out: loan commands in the log, and resources of the local
 * copy.
 * Start with the routes of loans below; `command-requests.ts` handles changes, `idempotency-key.ts` their keys.
 */

import { Router, type Request } from 'express';
import type { LocalDate } from '../../lending/terms.ts';
import { reachedBusinessDate } from '../../lending-format/stored-business-dates.ts';
import { detailsLevels, writeAccount, writeBalances, writeSchedule } from '../../lending-format/response-bodies.ts';
import { readOrganization } from '../../lending-format/stored-organization.ts';
import { findDefinition } from '../../lending-format/stored-definitions.ts';
import { findProduct } from '../../lending-format/stored-products.ts';
import type { ExactJson } from '../../lending-format/exact-json.ts';
import { apiErrors } from '../../lending-format/refusal-format.ts';
import { administratorKey, administratorUsername } from '../../lending/organization.ts';
import { readToggles } from '../../lending-format/stored-toggles.ts';
import { type Condition, isOneOf } from '../../accounts/queries/conditions.ts';
import { accountStates, loanSortFields } from '../../accounts/queries/loan-fields.ts';
import { CommandRequests, readBodyObject } from './command-requests.ts';
import { LendingErrors, lendingMethodNotAllowed, malformedBody } from '../edge/lending-errors.ts';
import { writeJsonArray } from '../edge/json-array.ts';
import {
  choiceParameter,
  filterParameter,
  refuseUnknownParameters,
  lendingPage,
  pageParameters,
  partOfId,
  setPageHeaders,
  sortParameter,
} from './lending-parameters.ts';
import type { LendingServices } from './services.ts';
import { addTransactionRoutes } from './loan-transactions.ts';
import { addPayOffPreview } from './pay-off-preview.ts';
import { addSchedulePreview } from './schedule-preview.ts';
import { addInstallments, addLoanSearch, addTransactionSearch } from './searches.ts';
import { newLoanId } from './new-loan-ids.ts';
import { existingLoan, loanAfter, loanIdOfPath } from './loan-lookup.ts';

/** Query parameters of the list of loans; every other one is refused, as it would not filter. */
const listParameters = [
  ...pageParameters,
  'detailsLevel',
  'sortBy',
  'accountState',
  'accountHolderId',
  'accountHolderType',
  'branchId',
  'centreId',
  'creditOfficerUsername',
  'productTypeKey',
  'q',
] as const;

/** The loans: opening, moving through their states, posting transactions, and reading all of it. */
export function createLoansRouter(services: LendingServices): Router {
  const { accounts, registry, clock } = services;
  const reached = (): LocalDate | null => reachedBusinessDate(registry, services.partitionCount);
  const commands = new CommandRequests(services);
  const router = Router({ caseSensitive: true });

  router
    .route('/loans')
    .get(async (request, response) => {
      refuseUnknownParameters(request, ...listParameters);
      const page = lendingPage(request);
      const detailsLevel = choiceParameter(request, 'detailsLevel', detailsLevels) ?? 'BASIC';
      const query = {
        conditions: await loanFilters(services, request),
        sorting: sortParameter(request, loanSortFields, 'creationDate'),
        ...page,
      };
      const { items } = await accounts.search((searches) => searches.loans(query));
      const date = reached();
      const body = await writeJsonArray(
        items,
        (text) => writeAccount(accounts.loanOf(text), detailsLevel, date),
        clock,
      );
      await setPageHeaders(response, page, () => accounts.search((searches) => searches.countLoans(query)));
      response.type('json').send(body);
    })
    .post(
      commands.handler({
        type: 'CREATE_LOAN',
        successStatus: 201,
        newIdOf: (payload, commandId) => newLoanId(services, payload, commandId),
        resourceOf: async (outcome) => writeAccount(await loanAfter(services, outcome), 'FULL', reached()),
      }),
    )
    .all(lendingMethodNotAllowed('GET', 'POST'));

  // Mounted before the routes that treat the whole last part of the path as an id.
  router
    .route('/loans/:loanAccountId\\:changeState')
    .post(
      commands.handler({
        type: 'CHANGE_STATE',
        successStatus: 200,
        subjectOf: async (request) => ({ loanAccountId: await loanIdOfPath(services, request) }),
        resourceOf: async (outcome) => writeAccount(await loanAfter(services, outcome), 'FULL', reached()),
      }),
    )
    .all(lendingMethodNotAllowed('POST'));

  addLoanSearch(router, services);
  addTransactionSearch(router, services);
  addTransactionRoutes(router, services, commands);
  addPayOffPreview(router, services);
  addSchedulePreview(router, services);

  router
    .route('/loans/:loanAccountId')
    .get(async (request, response) => {
      refuseUnknownParameters(request, 'detailsLevel');
      const detailsLevel = choiceParameter(request, 'detailsLevel', detailsLevels) ?? 'BASIC';
      response.type('json').send(writeAccount(await existingLoan(services, request), detailsLevel, reached()));
    })
    .put(
      commands.handler({
        type: 'UPDATE_LOAN',
        successStatus: 200,
        payloadOf: (bodyText) => ({ account: readBodyObject(bodyText) }),
        subjectOf: async (request) => ({ loanAccountId: await loanIdOfPath(services, request) }),
        resourceOf: async (outcome) => writeAccount(await loanAfter(services, outcome), 'FULL', reached()),
      }),
    )
    .patch(
      commands.handler({
        type: 'UPDATE_LOAN',
        successStatus: 204,
        payloadOf: patchPayload,
        subjectOf: async (request) => ({ loanAccountId: await loanIdOfPath(services, request) }),
        resourceOf: () => Promise.resolve(''),
      }),
    )
    .delete(
      commands.handler({
        type: 'DELETE_LOAN',
        successStatus: 204,
        payloadOf: () => ({}),
        subjectOf: async (request) => ({ loanAccountId: await loanIdOfPath(services, request) }),
        resourceOf: () => Promise.resolve(''),
      }),
    )
    .all(lendingMethodNotAllowed('GET', 'PUT', 'PATCH', 'DELETE'));
  router
    .route('/loans/:loanAccountId/schedule')
    .get(async (request, response) => {
      refuseUnknownParameters(request, 'detailsLevel');
      choiceParameter(request, 'detailsLevel', ['BASIC', 'FULL']);
      const schedule = writeSchedule(
        await existingLoan(services, request),
        readToggles(registry),
        readOrganization(registry),
      );
      if (typeof schedule !== 'string') throw new LendingErrors('MALFORMED_REQUEST', apiErrors(schedule));
      response.type('json').send(schedule);
    })
    .all(lendingMethodNotAllowed('GET'));
  router
    .route('/loans/:loanAccountId/balances')
    .get(async (request, response) => {
      refuseUnknownParameters(request);
      response.type('json').send(writeBalances(await existingLoan(services, request), readToggles(registry)));
    })
    .all(lendingMethodNotAllowed('GET'));

  addInstallments(router, services);

  return router;
}

/**
 * The payload of UPDATE_LOAN from a JSON Patch.
 * @throws LendingErrors when the body is no list
 */
function patchPayload(bodyText: string): ExactJson {
  // Read inside an object, in the way all bodies are.
  const { operations } = readBodyObject(`{"operations":${bodyText}}`);
  if (!Array.isArray(operations)) throw malformedBody('The JSON is not a list of operations.');
  return { operations };
}

/** @throws LendingErrors with INVALID_PARAMETERS for an unknown state */
async function loanFilters({ registry }: LendingServices, request: Request): Promise<Condition[]> {
  const accountState = choiceParameter(request, 'accountState', accountStates);
  const accountHolderId = filterParameter(request, 'accountHolderId');
  const product = filterParameter(request, 'productTypeKey');
  // Loans store the key of their product; a client may have only the id.
  const productTypeKey =
    product === undefined ? undefined : ((await findProduct(registry, product))?.encodedKey ?? product);
  const filters = {
    accountState,
    accountHolderId,
    accountHolderType: choiceParameter(request, 'accountHolderType', ['CLIENT', 'GROUP']),
    productTypeKey,
    assignedBranchKey: await keyOfDefinition(registry, 'branch', filterParameter(request, 'branchId')),
    assignedCentreKey: await keyOfDefinition(registry, 'centre', filterParameter(request, 'centreId')),
    assignedUserKey: keyOfOfficer(filterParameter(request, 'creditOfficerUsername')),
  };
  return [
    ...partOfId(request),
    ...Object.entries(filters).flatMap(([field, value]) => (value === undefined ? [] : [isOneOf(field, value)])),
  ];
}

/** Loans store keys. A client may have only the id; what is no id of a definition is taken as a key. */
async function keyOfDefinition(
  registry: LendingServices['registry'],
  kind: 'branch' | 'centre',
  idOrKey: string | undefined,
): Promise<string | undefined> {
  if (idOrKey === undefined) return undefined;
  return (await findDefinition(registry, kind, idOrKey))?.encodedKey ?? idOrKey;
}

/** The administrator is the only user. A loan may have the key of another officer, whose name is not known here. */
function keyOfOfficer(username: string | undefined): string | undefined {
  return username === administratorUsername ? administratorKey : username;
}
