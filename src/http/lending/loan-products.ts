import { type Request, Router } from 'express';
import { LendstreamError } from '../../errors.ts';
import type { CommandOutcome } from '../../lending-format/checkpoint.ts';
import { writeProduct } from '../../lending-format/response-bodies.ts';
import {
  type ProductVersion,
  findProductVersion,
  listProducts,
  newestProductVersion,
} from '../../lending-format/stored-products.ts';
import { CommandRequests, type CommandSubject } from './command-requests.ts';
import { lendingMethodNotAllowed, resourceNotFound } from '../edge/lending-errors.ts';
import {
  choiceParameter,
  refuseUnknownParameters,
  lendingPage,
  pageParameters,
  setPageHeaders,
  sortParameter,
} from './lending-parameters.ts';
import type { LendingServices } from './services.ts';
import { payloadOfPatch } from './json-patch-body.ts';

/** The loan products: creating, changing, deleting and reading them. */
export function createLoanProductsRouter(services: LendingServices): Router {
  const { registry } = services;
  const commands = new CommandRequests(services);
  const router = Router({ caseSensitive: true });
  const subjectOf = async (request: Request): Promise<CommandSubject> => {
    const found = await findProductVersion(registry, String(request.params['loanProductId']));
    if (found === undefined) throw resourceNotFound('loanProductId');
    return { loanProductId: found.product.id };
  };
  const nothingOnceChanged = async ({ loanProductId = '' }: CommandOutcome): Promise<string> => {
    // A client that gets the response sees the change on this process from now on.
    await newestProductVersion(registry, loanProductId);
    return '';
  };
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
        resourceOf: async (outcome) =>
          writeProduct(await productAfter(outcome, (id) => findProductVersion(registry, id))),
      }),
    )
    .all(lendingMethodNotAllowed('GET', 'POST'));
  router
    .route('/loanproducts/:loanProductId')
    .get(async (request, response) => {
      refuseUnknownParameters(request, 'detailsLevel');
      choiceParameter(request, 'detailsLevel', ['BASIC', 'FULL']);
      const product = await findProductVersion(registry, request.params['loanProductId']);
      if (product === undefined) throw resourceNotFound('loanProductId');
      response.type('json').send(writeProduct(product));
    })
    .put(
      commands.handler({
        type: 'UPDATE_PRODUCT',
        successStatus: 200,
        subjectOf,
        resourceOf: async (outcome) =>
          writeProduct(await productAfter(outcome, (id) => newestProductVersion(registry, id))),
      }),
    )
    .patch(
      commands.handler({
        type: 'PATCH_PRODUCT',
        successStatus: 204,
        payloadOf: payloadOfPatch,
        subjectOf,
        resourceOf: nothingOnceChanged,
      }),
    )
    .delete(
      commands.handler({
        type: 'DELETE_PRODUCT',
        successStatus: 204,
        subjectOf,
        resourceOf: nothingOnceChanged,
      }),
    )
    .all(lendingMethodNotAllowed('GET', 'PUT', 'PATCH', 'DELETE'));
  return router;
}

/** What products can be sorted by. Equal products come in the order of their ids. */
const sortedValues = {
  id: ({ product }) => product.id,
  encodedKey: ({ product }) => product.encodedKey,
  name: ({ product }) => product.name,
  productName: ({ product }) => product.name,
  type: ({ product }) => product.type,
  state: ({ product }) => product.state,
  creationDate: ({ createdAt }) => createdAt,
  lastModifiedDate: ({ modifiedAt }) => modifiedAt,
} as const satisfies Readonly<Record<string, (version: ProductVersion) => string | number>>;

type SortField = keyof typeof sortedValues;

const sortFields = Object.keys(sortedValues) as SortField[];

function sorted(products: readonly ProductVersion[], request: Request): ProductVersion[] {
  const sorting = sortParameter(request, sortFields, 'id');
  return products.toSorted((one, other) => {
    for (const { field, descending } of sorting) {
      const [left, right] = [sortedValues[field](one), sortedValues[field](other)];
      if (left !== right) return left < right === descending ? 1 : -1;
    }
    return one.product.id < other.product.id ? -1 : 1;
  });
}

/** The product that a command made or changed. */
async function productAfter(
  { commandId, loanProductId }: CommandOutcome,
  find: (id: string) => Promise<ProductVersion | undefined>,
): Promise<ProductVersion> {
  const product = loanProductId === undefined ? undefined : await find(loanProductId);
  if (product === undefined) throw new LendstreamError('INTERNAL', `Command ${commandId} left no product to return.`);
  return product;
}
