import { createRequire } from 'node:module';
import type * as ApiDescription from './api-description.ts';
import type * as ResponseContract from './response-contract.ts';
import type { WatchedResponse } from './response-watch.ts';

/** Compares responses with the description, as far as their processes have all of its routes. */

interface Contract {
  readonly responseFaults: (typeof ResponseContract)['responseFaults'];
  readonly isDescribed: (url: string) => boolean;
}

let loaded: Contract | undefined;

/** Loaded with the first response, because most processes of a test run never see one. */
function contract(): Contract {
  if (loaded === undefined) {
    const require = createRequire(import.meta.url);
    const { responseFaults } = require('./response-contract.js') as typeof ResponseContract;
    const { findPath } = require('./api-description.js') as typeof ApiDescription;
    loaded = { responseFaults, isDescribed: (url) => findPath(url.split('?', 1)[0] ?? '') !== undefined };
  }
  return loaded;
}

/** The differences between a response and the description, each in one line; empty when there are none. */
export function faultsOf(response: WatchedResponse): string[] {
  const { method, url } = response;
  try {
    return check(response).map((fault) => fault.replaceAll('\n', ' '));
  } catch (error) {
    return [`${method} ${url}: ${error instanceof Error ? error.stack : String(error)}`];
  }
}

function check(response: WatchedResponse): string[] {
  const { responseFaults, isDescribed } = contract();
  // An application of a few routers does not know the methods of the others.
  if (!response.isOfService && (response.status === 405 || !isDescribed(response.url))) return [];
  return responseFaults(response);
}
