import { operations } from '../../support/http/api-description.ts';
import { mutateAddress } from './address-mutations.ts';
import { mutateBody } from './body-mutations.ts';
import { SeededRandom } from './seeded-random.ts';
import { rendered, setBody, type FuzzRequest } from './drafts.ts';
import { mutateField } from './field-mutations.ts';
import { writeJson } from './json-text.ts';
import type { LiveIds } from '../live-ids.ts';
import { validRequest, weightOf } from './valid-requests.ts';
import { mutateWire } from './wire-mutations.ts';

const weighted = operations.map((operation) => [weightOf(operation), operation] as const);

/** How often each sort of request is generated. */
const sorts: readonly (readonly [weight: number, sort: 'valid' | 'field' | 'body' | 'address' | 'wire'])[] = [
  [35, 'valid'],
  [30, 'field'],
  [12, 'body'],
  [15, 'address'],
  [8, 'wire'],
];

/**
 * The request with a number. The same seed and number generate the same request, except for ids that only the service
 * creates (of subscriptions, streams, cursors and transactions), which come from the run.
 */
export function generate(seed: number, index: number, ids: LiveIds): FuzzRequest {
  const random = SeededRandom.of(seed, index);
  const operation = random.weighted(weighted);
  const draft = validRequest(index, operation, random, ids);
  const wanted = random.weighted(sorts);
  // A request without a body can only be changed outside of it.
  const sort = draft.value === undefined && (wanted === 'field' || wanted === 'body') ? 'address' : wanted;
  if (sort === 'field') {
    const count = random.weighted([
      [6, 1],
      [2, 2],
      [1, 4],
    ]);
    for (let number = 0; number < count; number += 1) mutateField(draft, random);
  }
  const body = draft.value === undefined ? undefined : Buffer.from(writeJson(draft.value));
  if (body !== undefined) setBody(draft, body);
  if (sort === 'body' && body !== undefined) mutateBody(draft, body, random);
  if (sort === 'address') mutateAddress(draft, random);
  const request = rendered(index, draft);
  return sort === 'wire' ? mutateWire(request, random) : request;
}
