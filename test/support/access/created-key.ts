import { expect } from 'chai';
import { call } from '../http/client.ts';

/** What a new key is to have, as in the body of the request. */
export interface WantedKey {
  readonly name: string;
  readonly owning_application: string;
  readonly scopes: readonly string[];
  readonly limits?: object;
}

/** A new key of the registry as the service answers it: `key` is its text, which is shown once. */
export async function createKey(
  url: string,
  administrator: string,
  wanted: WantedKey,
): Promise<Readonly<Record<string, unknown>> & { readonly key: string }> {
  const { status, body, text } = await call(`${url}/api-keys`, 'POST', wanted, { apikey: administrator });
  expect(status, text).to.equal(201);
  return { ...body, key: String(body['key']) };
}
