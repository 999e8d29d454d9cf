import { Router, type Request } from 'express';
import type { Responses, Requests, Unread } from '../../contract.ts';
import { describeError } from '../../errors.ts';
import { readExactObject } from '../../lending-format/exact-json.ts';
import { type ToggleName, isToggleName } from '../../lending/toggle-names.ts';
import { listToggles, setToggle, viewToggle } from '../../lending-format/stored-toggles.ts';
import { readBody } from '../edge/request-body.ts';
import { invalidParameter, lendingMethodNotAllowed, resourceNotFound } from '../edge/lending-errors.ts';
import type { LendingServices } from './services.ts';

/** The largest body of a toggle. Bytes. */
export const toggleBytesMaximum = 1_024;

/** The feature toggles: listing, showing and switching them. */
export function createTogglesRouter({ registry, clock }: LendingServices): Router {
  const router = Router({ caseSensitive: true });
  router
    .route('/toggles')
    .get((_request, response) => {
      response.json(listToggles(registry) satisfies Responses['listToggles']);
    })
    .all(lendingMethodNotAllowed('GET'));
  router
    .route('/toggles/:name')
    .get((request, response) => {
      response.json(viewToggle(registry, namedToggle(request)) satisfies Responses['getToggle']);
    })
    .put(async (request, response) => {
      const name = namedToggle(request);
      await setToggle(registry, name, await readEnabled(request), clock.now());
      response.json(viewToggle(registry, name) satisfies Responses['switchToggle']);
    })
    .all(lendingMethodNotAllowed('GET', 'PUT'));
  return router;
}

/** @throws LendingErrors 404 */
function namedToggle(request: Request): ToggleName {
  const name = String(request.params['name']);
  if (!isToggleName(name)) throw resourceNotFound('name');
  return name;
}

/** @throws LendingErrors 400 for a body that is not `{"enabled": true}` or `{"enabled": false}` */
async function readEnabled(request: Request): Promise<boolean> {
  const text = (await readBody(request, toggleBytesMaximum)).toString('utf8');
  let body: Unread<Requests['switchToggle']>;
  try {
    body = readExactObject(text);
  } catch (error) {
    throw invalidParameter(
      `The body must be {"enabled": true} or {"enabled": false}, and cannot be read: ${describeError(error)}`,
    );
  }
  const { enabled, ...others } = body;
  const [other] = Object.keys(others);
  if (typeof enabled !== 'boolean') throw invalidParameter('enabled');
  if (other !== undefined) throw invalidParameter(other);
  return enabled;
}
