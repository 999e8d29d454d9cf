import { setTimeout } from 'node:timers/promises';
import { call, type HttpResponse } from '../../support/http/client.ts';
import { eventTypeBody } from '../../support/broker-on-embedded-log.ts';
import { permissions, roles, type Sender, type Target } from './oracle.ts';

/** The key that creates everything, and sends no request of the campaign. */
export const administrator = 'the-key-of-an-administrator';

/** What the requests of a campaign are about. */
export interface World {
  readonly senders: readonly { readonly sender: Sender; readonly headers: Readonly<Record<string, string>> }[];
  readonly eventTypes: readonly Target[];
  readonly subscriptions: readonly Target[];
  /** A name that nothing has. */
  readonly missing: string;
}

const applications = ['shop', 'bank'] as const;

const missing = '00000000-0000-4000-8000-000000000000';

/** How long the key lives that has expired when the campaign begins. Milliseconds. */
const shortLifeMilliseconds = 1_500;

/** Creates keys of every role and with each permission alone, event types and subscriptions of two applications. */
export async function createWorld(url: string): Promise<World> {
  const send = async (path: string, body: unknown, method = 'POST'): Promise<HttpResponse> => {
    const response = await call(`${url}${path}`, method, body, { apikey: administrator });
    if (response.status >= 300) throw new Error(`${method} ${path} was answered ${response.status}: ${response.text}`);
    return response;
  };
  const senders: World['senders'][number][] = [];
  const createKey = async (
    name: string,
    application: string,
    scopes: readonly string[],
    more = {},
  ): Promise<string> => {
    const { body } = await send('/api-keys', { name, owning_application: application, scopes, ...more });
    return String(body['key']);
  };
  const add = async (name: string, application: string, scope: string, given: readonly string[]): Promise<void> => {
    const key = await createKey(name, application, [scope]);
    const sender: Sender = { name, kind: 'valid', application, permissions: new Set(given) };
    // In each of the forms that the documents name.
    const forms = [
      { Authorization: `Bearer ${key}` },
      { apikey: key },
      { Authorization: `Basic ${Buffer.from(`any:${key}`).toString('base64')}` },
    ];
    senders.push({ sender, headers: forms[senders.length % forms.length] ?? {} });
  };
  for (const application of applications) {
    for (const [role, given] of roles) await add(`${application}-${role}`, application, role, given);
  }
  for (const permission of permissions) {
    await add(`only-${permission.replaceAll(/[:*]/g, '.')}x`, 'shop', permission, [permission]);
  }
  const expires_at = new Date(Date.now() + shortLifeMilliseconds).toISOString();
  const expired = await createKey('expired', 'shop', ['admin'], { expires_at });
  const revoked = await createKey('revoked', 'shop', ['admin']);
  await send('/api-keys/revoked', undefined, 'DELETE');
  const invalid: [name: string, headers: Readonly<Record<string, string>>][] = [
    ['no key', {}],
    ['an expired key', { apikey: expired }],
    ['a revoked key', { Authorization: `Bearer ${revoked}` }],
    ['an invented key', { apikey: `lendstream_${'a'.repeat(43)}` }],
    ['a key with another end', { Authorization: `Bearer ${administrator}x` }],
  ];
  for (const [name, headers] of invalid) {
    const sender: Sender = { name, kind: 'none', application: '', permissions: new Set() };
    // As often as a few keys that are valid.
    for (let time = 0; time < 3; time += 1) senders.push({ sender, headers });
  }
  const eventTypes: Target[] = [{ name: missing, owner: undefined, isUnguarded: false }];
  const subscriptions: Target[] = [{ name: missing, owner: undefined, isUnguarded: false }];
  for (const owner of applications) {
    const owned = [{ data_type: 'application', value: owner }];
    const authorization = { readers: owned, writers: owned, admins: owned };
    const [guarded, unguarded] = [`${owner}-guarded`, `${owner}-unguarded`];
    const definition = { owning_application: owner };
    await send('/event-types', { ...eventTypeBody(guarded), ...definition, authorization });
    await send('/event-types', { ...eventTypeBody(unguarded), ...definition });
    eventTypes.push({ name: guarded, owner, isUnguarded: false }, { name: unguarded, owner, isUnguarded: true });
    const { body } = await send('/subscriptions', { ...definition, event_types: [guarded] });
    subscriptions.push({ name: String(body['id']), owner, isUnguarded: false });
  }
  await setTimeout(shortLifeMilliseconds);
  return { senders, eventTypes, subscriptions, missing };
}
