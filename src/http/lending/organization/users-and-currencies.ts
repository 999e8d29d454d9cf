import { Router, type Request } from 'express';
import type { Registry } from '../../../broker/definitions/registry.ts';
import type { Responses, Schemas } from '../../../contract.ts';
import { digitsOfCurrency } from '../../../lending-format/payloads/currency-digits.ts';
import { administratorKey, administratorUsername } from '../../../lending/organization.ts';
import { apiErrors } from '../../../lending-format/refusal-format.ts';
import { readOrganization } from '../../../lending-format/stored-organization.ts';
import { knownDefinition } from '../../../lending-format/stored-definitions.ts';
import { listProducts } from '../../../lending-format/stored-products.ts';
import { LendingErrors, lendingMethodNotAllowed, resourceNotFound } from '../../edge/lending-errors.ts';
import {
  choiceParameter,
  filterParameter,
  lendingPage,
  pageParameters,
  refuseUnknownParameters,
  setPageHeaders,
} from '../lending-parameters.ts';
import type { LendingServices } from '../services.ts';

/**
 * What clients of the original list before anything else, and what nothing can be defined of here: users, currencies,
 * sources of index rates, the general setup. Each list has what there is.
 */
export function createListsRouter({ registry }: LendingServices): Router {
  const router = Router({ caseSensitive: true });
  router
    .route('/users')
    .get(async (request, response) => {
      refuseUnknownParameters(request, ...pageParameters, 'detailsLevel', 'branchId', 'branchIdType');
      choiceParameter(request, 'detailsLevel', ['BASIC', 'FULL']);
      const page = lendingPage(request);
      const users = isUserOfBranch(registry, request) ? [administrator] : [];
      await setPageHeaders(response, page, () => users.length);
      response.json(users.slice(page.offset, page.offset + page.limit) satisfies Responses['listUsers']);
    })
    .all(lendingMethodNotAllowed('GET'));
  router
    .route('/users/:userId')
    .get((request, response) => {
      refuseDetails(request);
      const userId = request.params['userId'];
      if (userId !== administrator.id && userId !== administrator.encodedKey) throw resourceNotFound('userId');
      response.json(administrator satisfies Responses['getUser']);
    })
    .all(lendingMethodNotAllowed('GET'));
  router
    .route('/currencies')
    .get(async (request, response) => {
      refuseUnknownParameters(request, ...pageParameters, 'detailsLevel', 'type');
      choiceParameter(request, 'detailsLevel', ['BASIC', 'FULL']);
      const type = choiceParameter(request, 'type', currencyTypes);
      const page = lendingPage(request);
      const currencies = listCurrencies(registry).filter((currency) => type === undefined || currency.type === type);
      await setPageHeaders(response, page, () => currencies.length);
      response.json(currencies.slice(page.offset, page.offset + page.limit) satisfies Responses['listCurrencies']);
    })
    .all(lendingMethodNotAllowed('GET'));
  router
    .route('/currencies/:currencyCode')
    .get((request, response) => {
      refuseDetails(request);
      const found = listCurrencies(registry).find(({ code }) => code === request.params['currencyCode']);
      if (found === undefined) throw resourceNotFound('currencyCode');
      response.json(found satisfies Responses['getCurrency']);
    })
    .all(lendingMethodNotAllowed('GET'));
  router
    .route('/indexratesources')
    .get((request, response) => {
      refuseUnknownParameters(request, ...pageParameters);
      lendingPage(request);
      response.json([] satisfies Responses['listIndexRateSources']);
    })
    .post(() => {
      const messages = { FEATURE_DISABLED: 'No product can follow an index: interest rates are fixed.' };
      const refused = [{ errorReason: 'FEATURE_DISABLED', errorSource: 'indexratesources' }] as const;
      throw new LendingErrors('MALFORMED_REQUEST', apiErrors(refused, messages));
    })
    .all(lendingMethodNotAllowed('GET', 'POST'));
  router
    .route('/setup/general')
    .get((request, response) => {
      refuseUnknownParameters(request);
      const { dateFormat, dateTimeFormat, decimalSeparator } = readOrganization(registry);
      const dateFormats = { DATE_FORMAT: dateFormat, DATE_TIME_FORMAT: dateTimeFormat };
      response.json({ decimalSeparator, dateFormats, ...generalRules } satisfies Responses['getGeneralSetup']);
    })
    .all(lendingMethodNotAllowed('GET'));
  return router;
}

/** Any client with a key may do everything, and the service knows no other user. */
const administrator = {
  encodedKey: administratorKey,
  id: 'admin',
  username: administratorUsername,
  firstName: 'Administrator',
  userState: 'ACTIVE',
  access: {
    administratorAccess: true,
    apiAccess: true,
    canManageAllBranches: true,
    canManageEntitiesAssignedToOtherOfficers: true,
  },
} as const satisfies Schemas['User'];

/** What holds for every loan: nothing here can be set otherwise. */
const generalRules = {
  approvalDisbursalTwoManRuleEnabled: false,
  assignmentConstraints: [],
  enabledComponents: ['LOANS', 'BRANCHES', 'CENTRES'],
  exposureType: 'UNLIMITED',
  multipleLoans: 'UNLIMITED',
} as const;

function refuseDetails(request: Request): void {
  refuseUnknownParameters(request, 'detailsLevel');
  choiceParameter(request, 'detailsLevel', ['BASIC', 'FULL']);
}

/** The administrator may manage every branch that there is, and is assigned to none. */
function isUserOfBranch(registry: Registry, request: Request): boolean {
  const branchId = filterParameter(request, 'branchId');
  const type = choiceParameter(request, 'branchIdType', ['ASSIGNED', 'MANAGE']) ?? 'ASSIGNED';
  if (branchId === undefined) return true;
  return type === 'MANAGE' && knownDefinition(registry, 'branch', branchId) !== undefined;
}

const currencyTypes = ['FIAT_CURRENCY', 'CRYPTOCURRENCY', 'NON_TRADITIONAL_CURRENCY'] as const;

/** The organization's own currency and those of the products, by their codes. */
function listCurrencies(registry: Registry): Schemas['Currency'][] {
  const base = readOrganization(registry).currencyCode;
  const codes = new Set([base, ...listProducts(registry).map(({ product: { currency } }) => currency.code)]);
  return [...codes].sort().map((code) => viewCurrency(code, code === base));
}

function viewCurrency(code: string, isBase: boolean): Schemas['Currency'] {
  const names = new Intl.DisplayNames('en', { type: 'currency' });
  const symbols = new Intl.NumberFormat('en', { style: 'currency', currency: code, currencyDisplay: 'narrowSymbol' });
  const symbol = symbols.formatToParts(1).find(({ type }) => type === 'currency')?.value ?? code;
  return {
    code,
    name: names.of(code) ?? code,
    symbol,
    digitsAfterDecimal: digitsOfCurrency(code),
    type: code === 'BTC' ? 'CRYPTOCURRENCY' : 'FIAT_CURRENCY',
    currencySymbolPosition: 'BEFORE_NUMBER',
    baseCurrency: isBase,
  };
}
