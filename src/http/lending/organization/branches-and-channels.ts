import { Router, type Request, type RequestHandler, type Response } from 'express';
import { hash } from 'node:crypto';
import type { Responses } from '../../../contract.ts';
import type { ExactJson } from '../../../lending-format/exact-json.ts';
import { writeExact } from '../../../lending-format/exact-json.ts';
import {
  type BranchFields,
  type CentreFields,
  type TransactionChannelFields,
  readBranchFields,
  readCentreFields,
  readDefinition,
  readTransactionChannelFields,
} from '../../../lending-format/payloads/definition-payload.ts';
import {
  type DefinitionKind,
  type DefinitionRecord,
  changeDefinition,
  createDefinition,
  findDefinition,
  knownDefinition,
  listDefinitions,
  removeDefinition,
} from '../../../lending-format/stored-definitions.ts';
import { invalidParameter, lendingMethodNotAllowed, resourceNotFound } from '../../edge/lending-errors.ts';
import { commandIdOf, keyAlreadyUsed } from '../idempotency-key.ts';
import {
  choiceParameter,
  filterParameter,
  lendingPage,
  pageParameters,
  refuseUnknownParameters,
  setPageHeaders,
  sortParameter,
} from '../lending-parameters.ts';
import type { LendingServices } from '../services.ts';
import { accepted, readDefinitionBody } from './organization.ts';

/** The branches, centres and transaction channels of the institution: what its admin defines besides products. */
export function createDefinitionsRouter(services: LendingServices): Router {
  const router = Router({ caseSensitive: true });
  const branches = new Definitions<BranchFields, Responses['getBranch']>(services, {
    kind: 'branch',
    idParameter: 'branchId',
    readFields: readBranchFields,
    view: viewWithDates,
  });
  router.route('/branches').get(branches.list).post(branches.create).all(lendingMethodNotAllowed('GET', 'POST'));
  router
    .route('/branches/:branchId')
    .get(branches.show)
    .put(branches.change)
    .all(lendingMethodNotAllowed('GET', 'PUT'));

  const centres = new Definitions<CentreFields, Responses['getCentre']>(services, {
    kind: 'centre',
    idParameter: 'centreId',
    readFields: readCentreFields,
    view: viewWithDates,
    filter: {
      parameter: 'branchId',
      accepts: ({ fields }, branchId) => {
        const branch = knownDefinition(services.registry, 'branch', branchId);
        return branch !== undefined && fields.assignedBranchKey === branch.encodedKey;
      },
    },
  });
  router.route('/centres').get(centres.list).post(centres.create).all(lendingMethodNotAllowed('GET', 'POST'));
  router.route('/centres/:centreId').get(centres.show).put(centres.change).all(lendingMethodNotAllowed('GET', 'PUT'));

  const channels = new Definitions<TransactionChannelFields, Responses['getTransactionChannel']>(services, {
    kind: 'transaction-channel',
    idParameter: 'transactionChannelId',
    readFields: readTransactionChannelFields,
    view: ({ id, encodedKey, fields }) => ({ id, encodedKey, ...fields, ...channelWithoutLimits }),
    filter: {
      parameter: 'transactionChannelState',
      values: ['ACTIVE', 'INACTIVE'],
      accepts: ({ fields }, state) => fields.state === state,
    },
  });
  router
    .route('/organization/transactionChannels')
    .get(channels.list)
    .post(channels.create)
    .all(lendingMethodNotAllowed('GET', 'POST'));
  router
    .route('/organization/transactionChannels/:transactionChannelId')
    .get(channels.show)
    .put(channels.change)
    .delete(channels.remove)
    .all(lendingMethodNotAllowed('GET', 'PUT', 'DELETE'));
  return router;
}

function viewWithDates<Fields extends object>(record: DefinitionRecord<Fields>): Fields & Named {
  const { id, encodedKey, creationDate, lastModifiedDate, fields } = record;
  return { id, encodedKey, ...fields, creationDate, lastModifiedDate };
}

type Named = Pick<DefinitionRecord<unknown>, 'id' | 'encodedKey' | 'creationDate' | 'lastModifiedDate'>;

const unconstrained = { usage: 'UNCONSTRAINED', matchFiltersOption: 'ALL', constraints: [] } as const;

/** What every channel is, since no channel limits its use. */
const channelWithoutLimits = {
  isDefault: false,
  availableForAll: true,
  usageRights: [],
  attributes: { overdraftAllowed: false },
  loanConstraints: unconstrained,
  depositConstraints: unconstrained,
} as const;

interface DefinitionRoutes<Fields, View> {
  readonly kind: DefinitionKind;
  readonly idParameter: string;
  readonly readFields: Parameters<typeof readDefinition<Fields>>[2];
  readonly view: (record: DefinitionRecord<Fields>) => View;
  /** The filter that its list has, if any. */
  readonly filter?: {
    readonly parameter: string;
    /** Its values; any text when absent. */
    readonly values?: readonly string[];
    readonly accepts: (record: DefinitionRecord<Fields>, value: string) => boolean;
  };
}

/** The fields that definitions can be sorted by. Equal ones come in the order of their ids. */
const sortFields = ['id', 'encodedKey', 'name', 'state', 'creationDate', 'lastModifiedDate'] as const;

interface SortableFields {
  readonly name: string;
  readonly state: string;
}

/** The handlers of one kind of definition. */
class Definitions<Fields extends SortableFields, View> {
  readonly #services: LendingServices;
  readonly #routes: DefinitionRoutes<Fields, View>;

  constructor(services: LendingServices, routes: DefinitionRoutes<Fields, View>) {
    this.#services = services;
    this.#routes = routes;
  }

  readonly list: RequestHandler = async (request, response) => {
    const { kind, filter } = this.#routes;
    const own = filter === undefined ? [] : [filter.parameter];
    refuseUnknownParameters(request, ...pageParameters, 'detailsLevel', 'sortBy', ...own);
    choiceParameter(request, 'detailsLevel', ['BASIC', 'FULL']);
    const page = lendingPage(request);
    const sorting = sortParameter(request, sortFields, 'id');
    const value = filter === undefined ? undefined : filterOf(request, filter);
    const found = listDefinitions<Fields>(this.#services.registry, kind)
      .filter((record) => value === undefined || filter?.accepts(record, value) === true)
      .sort((one, other) => {
        for (const { field, descending } of sorting) {
          const [left, right] = [sortValue(one, field), sortValue(other, field)];
          if (left !== right) return left < right === descending ? 1 : -1;
        }
        return one.id < other.id ? -1 : 1;
      });
    await setPageHeaders(response, page, () => found.length);
    response.json(found.slice(page.offset, page.offset + page.limit).map(this.#routes.view));
  };

  readonly show: RequestHandler = async (request, response) => {
    refuseUnknownParameters(request, 'detailsLevel');
    choiceParameter(request, 'detailsLevel', ['BASIC', 'FULL']);
    response.json(this.#routes.view(await this.#existing(request)));
  };

  /** A repetition under the same Idempotency-Key shows what the first request made. */
  readonly create: RequestHandler = async (request, response) => {
    const { registry, clock } = this.#services;
    const { kind } = this.#routes;
    const body = await readDefinitionBody(request);
    const encodedKey = commandIdOf(request.get('Idempotency-Key'), request.path).replaceAll('-', '');
    const { id, fields } = accepted(this.#read(body, undefined));
    const requestDigest = hash('sha256', writeExact(body));
    const known = await createDefinition(registry, kind, { id, encodedKey, requestDigest, fields }, clock.now());
    if (known !== undefined) {
      if (known.encodedKey !== encodedKey) throw invalidParameter('id');
      if (known.requestDigest !== requestDigest) throw keyAlreadyUsed();
      response.set('Idempotent-Replayed', 'true');
    }
    this.#send(response, 201, id);
  };

  readonly change: RequestHandler = async (request, response) => {
    const { registry, clock } = this.#services;
    const body = await readDefinitionBody(request);
    const { id } = await this.#existing(request);
    const { fields } = accepted(this.#read(body, id));
    await changeDefinition(registry, this.#routes.kind, id, fields, clock.now());
    this.#send(response, 200, id);
  };

  readonly remove: RequestHandler = async (request, response) => {
    const { id } = await this.#existing(request);
    await removeDefinition(this.#services.registry, this.#routes.kind, id);
    response.status(204).end();
  };

  #read(body: ExactJson, id: string | undefined): ReturnType<typeof readDefinition<Fields>> {
    const isBranchKey = (key: string): boolean =>
      knownDefinition(this.#services.registry, 'branch', key)?.encodedKey === key;
    return readDefinition(body, id, this.#routes.readFields, isBranchKey);
  }

  /** @throws LendingErrors 404 */
  async #existing(request: Request): Promise<DefinitionRecord<Fields>> {
    const { kind, idParameter } = this.#routes;
    const record = await findDefinition<Fields>(this.#services.registry, kind, String(request.params[idParameter]));
    if (record === undefined) throw resourceNotFound(idParameter);
    return record;
  }

  #send(response: Response, status: 200 | 201, id: string): void {
    const record = knownDefinition<Fields>(this.#services.registry, this.#routes.kind, id);
    // It may be gone again already.
    if (record === undefined) throw resourceNotFound(this.#routes.idParameter);
    response.status(status).json(this.#routes.view(record));
  }
}

function filterOf(
  request: Request,
  { parameter, values }: { readonly parameter: string; readonly values?: readonly string[] },
): string | undefined {
  return values === undefined ? filterParameter(request, parameter) : choiceParameter(request, parameter, values);
}

function sortValue<Fields extends SortableFields>(
  record: DefinitionRecord<Fields>,
  field: (typeof sortFields)[number],
): string {
  return field === 'name' || field === 'state' ? record.fields[field] : record[field];
}
