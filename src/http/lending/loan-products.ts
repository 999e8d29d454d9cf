import { Router, type Request } from 'express';
import { withTimeout } from '../../clock.ts';
import { LendstreamError } from '../../errors.ts';
import type { CommandOutcome } from '../../lending-format/checkpoint.ts';
import { writeProduct } from '../../lending-format/loan-format.ts';
import { findProduct, listProducts } from '../../lending-format/products.ts';
import { catchUpOnMiss } from '../edge/catch-up.ts';
import { CommandRequests } from './command-requests.ts';
import {
  lendingErrorHandler,
  lendingMethodNotAllowed,
  lendingPathNotFound,
  pathsBelow,
  resourceNotFound,
} from '../edge/lending-errors.ts';
import {
  choiceParameter,
  refuseUnknownParameters,
  lendingPage,
  pageParameters,
  setPageHeaders,
  sortParameter,
} from './query.ts';
import type { LendingServices } from './services.ts';
import { payloadOfProductPatch } from './product-patch.ts';

/** How long to wait for a new product while the registry lags behind the loans. Milliseconds. */
const productLagMillisecondsMaximum = 5_000;

type LoanProduct = NonNullable<ReturnType<typeof findProduct>>;

/** The loan products: creating, retiring and reading them. */
export function createLoanProductsRouter(services: LendingServices): Router {
  const { registry, logger } = services;
  const commands = new CommandRequests(services);
  const router = Router({ caseSensitive: true });
  router.param('loanProductId', catchUpOnMiss(registry, 'product'));
  router
    .route('/loanproducts')
    .get((request, response) => {
      refuseUnknownParameters(request, ...pageParameters, 'detailsLevel', 'sortBy');
      choiceParameter(request, 'detailsLevel', ['BASIC', 'FULL']);
      const page = lendingPage(request);
      const products = sorted(listProducts(registry), request);
      setPageHeaders(response, page, () => products.length);
      const shown = products.slice(page.offset, page.offset + page.limit);
      response.type('json').send(`[${shown.map((product) => writeProduct(product)).join(',')}]`);
    })
    .post(
      commands.handler({
        type: 'CREATE_PRODUCT',
        successStatus: 201,
        resourceOf: async (outcome) => writeProduct(await productAfter(services, outcome)),
      }),
    )
    .all(lendingMethodNotAllowed('GET', 'POST'));
  router
    .route('/loanproducts/:loanProductId')
    .get((request, response) => {
      refuseUnknownParameters(request, 'detailsLevel');
      choiceParameter(request, 'detailsLevel', ['BASIC', 'FULL']);
      const product = findProduct(registry, request.params['loanProductId']);
      if (product === null) throw resourceNotFound('loanProductId');
      response.type('json').send(writeProduct(product));
    })
    .patch(
      commands.handler({
        type: 'UPDATE_PRODUCT',
        successStatus: 204,
        payloadOf: payloadOfProductPatch,
        subjectOf: (request) => {
          const product = findProduct(registry, String(request.params['loanProductId']));
          if (product === null) throw resourceNotFound('loanProductId');
          return { loanProductId: product.id };
        },
        resourceOf: async () => {
          // A client that gets the response sees the change on this process from now on.
          await registry.catchUp();
          return '';
        },
      }),
    )
    .all(lendingMethodNotAllowed('GET', 'PATCH'));
  router.use(pathsBelow('/loanproducts'), lendingPathNotFound, lendingErrorHandler(logger));
  return router;
}

/** The fields that products can be sorted by. Equal products come in the order of their ids. */
const sortFields = ['id', 'encodedKey', 'name', 'type', 'state'] as const;

function sorted(products: LoanProduct[], request: Request): LoanProduct[] {
  const sorting = sortParameter(request, sortFields, 'id');
  return products.sort((one, other) => {
    for (const { field, descending } of sorting) {
      if (one[field] !== other[field]) return one[field] < other[field] === descending ? 1 : -1;
    }
    return one.id < other.id ? -1 : 1;
  });
}

/**
 * The product that a command made. It is committed in one step with the outcome, but the registry and the view follow
 * the log separately.
 */
async function productAfter(services: LendingServices, outcome: CommandOutcome): Promise<LoanProduct> {
  const { commandId, loanProductId } = outcome;
  if (loanProductId === undefined) {
    throw new LendstreamError('INTERNAL', `Command ${commandId} left no product to return.`);
  }
  const find = (): LoanProduct | null => findProduct(services.registry, loanProductId);
  await waitForRegistry(services, outcome, () => find() !== null);
  const product = find();
  if (product === null) throw new LendstreamError('INTERNAL', `Product ${loanProductId} no longer exists.`);
  return product;
}

/** @throws LOG_UNAVAILABLE when the registry of this process lags too far behind the commit of the command */
async function waitForRegistry(
  { registry, clock }: LendingServices,
  { loanProductId }: CommandOutcome,
  isPresent: () => boolean,
): Promise<void> {
  if (isPresent()) return;
  let stopListening = (): void => {};
  const present = new Promise<void>((resolve) => {
    stopListening = registry.onChange(({ kind, name }) => {
      if (kind === 'product' && name === loanProductId && isPresent()) resolve();
    });
  });
  try {
    await withTimeout(clock, present, productLagMillisecondsMaximum, () => {
      throw new LendstreamError('LOG_UNAVAILABLE', 'The product is stored but cannot be read yet.');
    });
  } finally {
    stopListening();
  }
}
