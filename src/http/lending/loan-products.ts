import { Router, type Request } from 'express';
import type { Registry } from '../../broker/definitions/registry.ts';
import { LendstreamError } from '../../errors.ts';
import type { CommandOutcome } from '../../lending-format/checkpoint.ts';
import { writeProduct } from '../../lending-format/response-bodies.ts';
import { findProduct, listProducts } from '../../lending-format/stored-products.ts';
import { CommandRequests } from './command-requests.ts';
import {
  lendingErrorHandler,
  lendingMethodNotAllowed,
  lendingPathNotFound,
  resourceNotFound,
} from '../edge/lending-errors.ts';
import { pathsBelow } from '../edge/request-paths.ts';
import {
  choiceParameter,
  refuseUnknownParameters,
  lendingPage,
  pageParameters,
  setPageHeaders,
  sortParameter,
} from './lending-parameters.ts';
import type { LendingServices } from './services.ts';
import { payloadOfProductPatch } from './product-patch.ts';

type LoanProduct = NonNullable<Awaited<ReturnType<typeof findProduct>>>;

/** The loan products: creating, retiring and reading them. */
export function createLoanProductsRouter(services: LendingServices): Router {
  const { registry, logger } = services;
  const commands = new CommandRequests(services);
  const router = Router({ caseSensitive: true });
  router
    .route('/loanproducts')
    .get(async (request, response) => {
      refuseUnknownParameters(request, ...pageParameters, 'detailsLevel', 'sortBy');
      choiceParameter(request, 'detailsLevel', ['BASIC', 'FULL']);
      const page = lendingPage(request);
      const products = sorted(listProducts(registry), request);
      await setPageHeaders(response, page, () => products.length);
      const shown = products.slice(page.offset, page.offset + page.limit);
      response.type('json').send(`[${shown.map((product) => writeProduct(product)).join(',')}]`);
    })
    .post(
      commands.handler({
        type: 'CREATE_PRODUCT',
        successStatus: 201,
        resourceOf: async (outcome) => writeProduct(await productAfter(registry, outcome)),
      }),
    )
    .all(lendingMethodNotAllowed('GET', 'POST'));
  router
    .route('/loanproducts/:loanProductId')
    .get(async (request, response) => {
      refuseUnknownParameters(request, 'detailsLevel');
      choiceParameter(request, 'detailsLevel', ['BASIC', 'FULL']);
      const product = await findProduct(registry, request.params['loanProductId']);
      if (product === undefined) throw resourceNotFound('loanProductId');
      response.type('json').send(writeProduct(product));
    })
    .patch(
      commands.handler({
        type: 'UPDATE_PRODUCT',
        successStatus: 204,
        payloadOf: payloadOfProductPatch,
        subjectOf: async (request) => {
          const product = await findProduct(registry, String(request.params['loanProductId']));
          if (product === undefined) throw resourceNotFound('loanProductId');
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

/** The product that a command made. The registry follows the log separately, so it may not have it yet. */
async function productAfter(registry: Registry, { commandId, loanProductId }: CommandOutcome): Promise<LoanProduct> {
  const product = loanProductId === undefined ? undefined : await findProduct(registry, loanProductId);
  if (product === undefined) throw new LendstreamError('INTERNAL', `Command ${commandId} left no product to return.`);
  return product;
}
