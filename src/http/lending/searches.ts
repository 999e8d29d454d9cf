import type { Request, Response, Router } from 'express';
import { reachedBusinessDate } from '../../lending-format/stored-business-dates.ts';
import { describeError } from '../../errors.ts';
import { accountStates, loanFields } from '../../accounts/queries/loan-fields.ts';
import { type InstallmentQuery, installmentStates } from '../../accounts/queries/installment-search.ts';
import { readDate } from '../../accounts/queries/date-ranges.ts';
import { readCursor, writeCursor } from '../../accounts/queries/cursor.ts';
import { readCriteria } from '../../accounts/queries/search-criteria.ts';
import type { FieldKind } from '../../accounts/queries/conditions.ts';
import { type SearchFields, customFieldPath } from '../../accounts/queries/search-field.ts';
import type { SearchPage, SearchQuery, Sorting } from '../../accounts/queries/search-query.ts';
import { transactionFields } from '../../accounts/queries/transaction-fields.ts';
import type { FieldDefinitions, FieldType } from '../../lending/custom-fields/definitions.ts';
import { fieldDefinitionsOf } from '../../lending-format/custom-fields/stored-custom-fields.ts';
import { readExactObject } from '../../lending-format/exact-json.ts';
import { apiErrors } from '../../lending-format/refusal-format.ts';
import {
  type DetailsLevel,
  detailsLevels,
  writeAccount,
  writeInstallments,
  writeTransaction,
} from '../../lending-format/response-bodies.ts';
import { readOrganization } from '../../lending-format/stored-organization.ts';
import { findProduct } from '../../lending-format/stored-products.ts';
import { readToggles } from '../../lending-format/stored-toggles.ts';
import { writeJsonArray } from '../edge/json-array.ts';
import { LendingErrors, invalidParameter, lendingMethodNotAllowed, malformedBody } from '../edge/lending-errors.ts';
import { textParameter } from '../edge/query-parameters.ts';
import { readBody } from '../edge/request-body.ts';
import {
  type LendingPage,
  choiceParameter,
  filterParameter,
  lendingPage,
  pageParameters,
  partOfId,
  refuseUnknownParameters,
  setPageHeaders,
} from './lending-parameters.ts';
import type { LendingServices } from './services.ts';

/** The largest body of a search. Bytes. */
const searchBytesMaximum = 512 * 1024;

/** The order of a search that names none. What was opened or posted during it comes last. */
const defaultSorting: Sorting = { field: 'creationDate', descending: false };

/** Adds the search of accounts. Mount it before the routes that treat the whole last part of a path as an id. */
export function addLoanSearch(router: Router, services: LendingServices): void {
  const { accounts, clock } = services;
  router
    .route('/loans\\:search')
    .post(async (request, response) => {
      const search = await readSearch(services, request, 'loans');
      const found = await accounts.search((searches) => searches.loans(search.query));
      const body = await writeJsonArray(
        found.items,
        (text) => writeAccount(accounts.loanOf(text), search.detailsLevel, search.query.reached),
        clock,
      );
      await setSearchHeaders(response, search, found, () =>
        accounts.search((searches) => searches.countLoans(search.query)),
      );
      response.type('json').send(body);
    })
    .all(lendingMethodNotAllowed('POST'));
}

/** Adds the search of transactions. */
export function addTransactionSearch(router: Router, services: LendingServices): void {
  const { accounts, clock } = services;
  router
    .route('/loans/transactions\\:search')
    .post(async (request, response) => {
      const search = await readSearch(services, request, 'transactions');
      const found = await accounts.search((searches) => searches.transactions(search.query));
      const loans = new Map<string, ReturnType<typeof accounts.loanOf>>();
      const loanOf = (text: string): ReturnType<typeof accounts.loanOf> => {
        const loan = loans.get(text) ?? accounts.loanOf(text);
        loans.set(text, loan);
        return loan;
      };
      const body = await writeJsonArray(
        found.items,
        ({ account, text }) => writeTransaction(loanOf(account), text, search.detailsLevel),
        clock,
      );
      await setSearchHeaders(response, search, found, () =>
        accounts.search((searches) => searches.countTransactions(search.query)),
      );
      response.type('json').send(body);
    })
    .all(lendingMethodNotAllowed('POST'));
}

/** Adds the list of the installments of all accounts. */
export function addInstallments(router: Router, services: LendingServices): void {
  const { accounts, registry, clock } = services;
  router
    .route('/installments')
    .get(async (request, response) => {
      const parameters = ['dueFrom', 'dueTo', 'productTypeKey', 'accountState', 'installmentState', 'detailsLevel'];
      refuseUnknownParameters(request, ...pageParameters, ...parameters);
      choiceParameter(request, 'detailsLevel', ['BASIC', 'FULL']);
      const page = lendingPage(request);
      const query: InstallmentQuery = { ...(await installmentFilters(services, request)), ...page };
      const found = await accounts.search((searches) => searches.installments(query));
      const toggles = readToggles(registry);
      const body = await writeJsonArray(
        found,
        ({ account, numbers }) => writeInstallments(accounts.loanOf(account), numbers, toggles).join(','),
        clock,
      );
      await setPageHeaders(response, page, () => accounts.search((searches) => searches.countInstallments(query)));
      response.type('json').send(body);
    })
    .all(lendingMethodNotAllowed('GET'));
}

const fieldsOf = { loans: loanFields, transactions: transactionFields } as const satisfies Readonly<
  Record<string, SearchFields<never>>
>;

interface Search {
  readonly query: SearchQuery;
  readonly page: LendingPage;
  readonly sorting: Sorting;
  readonly detailsLevel: DetailsLevel;
  /** Whether the client pages by cursor. */
  readonly hasCursor: boolean;
}

/** @throws LendingErrors for every part of the request that cannot be read, each with its path */
async function readSearch(
  { clock, registry, partitionCount }: LendingServices,
  request: Request,
  resource: keyof typeof fieldsOf,
): Promise<Search> {
  const searched = resource === 'loans' ? ['q'] : [];
  refuseUnknownParameters(request, ...pageParameters, 'detailsLevel', 'cursor', ...searched);
  const detailsLevel = choiceParameter(request, 'detailsLevel', detailsLevels) ?? 'BASIC';
  const page = lendingPage(request);
  const text = (await readBody(request, searchBytesMaximum)).toString('utf8');
  const refusals: Parameters<typeof readCriteria>[3] = [];
  const { conditions, sorting = defaultSorting } = readCriteria(
    readSearchBody(text),
    withDefinedKinds(fieldsOf[resource], fieldDefinitionsOf(registry)),
    { zone: readOrganization(registry).timeZoneID, now: clock.now() },
    refusals,
  );
  if (refusals.length > 0) throw new LendingErrors('MALFORMED_REQUEST', apiErrors(refusals));
  const reached = reachedBusinessDate(registry, partitionCount);
  const query = {
    conditions: [...(resource === 'loans' ? partOfId(request) : []), ...conditions],
    sorting: [sorting],
    offset: page.offset,
    limit: page.limit,
    reached,
  };
  const cursor = textParameter(request, 'cursor');
  if (cursor === undefined) return { query, page, sorting, detailsLevel, hasCursor: false };
  const position = readCursor(cursor, sorting, resource);
  if (position === undefined) throw invalidParameter('cursor');
  // A page begins at a cursor or after a number of items.
  if (page.offset > 0) throw invalidParameter('offset');
  return {
    query: position === 'first' ? query : { ...query, after: position },
    page,
    sorting,
    detailsLevel,
    hasCursor: true,
  };
}

/** The values of each type of custom field, as searches compare them. */
const kindsOfTypes: Readonly<Record<FieldType, FieldKind>> = {
  FREE_TEXT: 'text',
  SELECTION: 'text',
  CHECKBOX: 'text',
  NUMBER: 'number',
  DATE: 'day',
  DATE_TIME: 'instant',
  CLIENT_LINK: 'key',
  GROUP_LINK: 'key',
  USER_LINK: 'key',
};

/** The fields with the kinds of the custom ones that are defined. */
function withDefinedKinds(fields: SearchFields<never>, definitions: FieldDefinitions): SearchFields<never> {
  return {
    find: (name) => {
      const found = fields.find(name);
      if (found?.isCustom === undefined) return found;
      const [setId = '', id = ''] = customFieldPath(name) ?? [];
      const type = definitions.field(setId, id)?.type;
      return type === undefined ? found : { ...found, definedKind: kindsOfTypes[type] };
    },
  };
}

/** A search without a body finds everything. */
function readSearchBody(text: string): ReturnType<typeof readExactObject> {
  try {
    return text.trim() === '' ? {} : readExactObject(text);
  } catch (error) {
    throw malformedBody(describeError(error));
  }
}

async function setSearchHeaders(
  response: Response,
  { page, sorting, hasCursor }: Search,
  { last }: SearchPage<unknown>,
  total: () => Promise<number>,
): Promise<void> {
  if (hasCursor) response.set('Items-Next-Cursor', writeCursor(sorting, last));
  await setPageHeaders(response, page, total);
}

async function installmentFilters(
  { registry }: LendingServices,
  request: Request,
): Promise<Omit<InstallmentQuery, 'offset' | 'limit'>> {
  const accountState = choiceParameter(request, 'accountState', accountStates);
  const installmentState = choiceParameter(request, 'installmentState', installmentStates);
  const product = filterParameter(request, 'productTypeKey');
  return {
    dueFrom: dayParameter(request, 'dueFrom') ?? '0001-01-01',
    dueTo: dayParameter(request, 'dueTo') ?? '9999-12-31',
    ...(accountState === undefined ? {} : { accountState }),
    ...(installmentState === undefined ? {} : { installmentState }),
    // Accounts store the key of their product; a client may have only the id.
    ...(product === undefined ? {} : { productTypeKey: (await findProduct(registry, product))?.encodedKey ?? product }),
  };
}

/** A day; of an instant, the day as the sender wrote it. */
function dayParameter(request: Request, name: string): string | undefined {
  const text = textParameter(request, name);
  if (text === undefined) return undefined;
  // Clients leave the plus sign of an offset as it is, and then it arrives as a space.
  const date = readDate(text.replace(' ', '+'), 'day', { zone: 'UTC', now: 0 });
  if (date === undefined) throw invalidParameter(name);
  return date.day;
}
