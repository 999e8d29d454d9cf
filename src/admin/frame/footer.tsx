import type { JSX } from 'preact';
import type { Responses } from '../../contract.ts';
import { call } from '../api/api.ts';
import { signOut, storedKey } from '../api/api-key.ts';
import { connection } from '../api/connection-state.ts';
import { useLoaded } from '../api/queries.ts';

const refreshMilliseconds = 15_000;

/** What runs here and how it is, where it is documented, and the way out. */
export function Footer(): JSX.Element {
  const { reachable, keyRequired, openToAll } = connection.value;
  const isEnabled = !keyRequired;
  const version = useLoaded('version', () => call<Responses['getVersion']>('GET', '/version'), 0, { isEnabled });
  const health = useLoaded(
    'health',
    async (signal) =>
      JSON.parse(await (await fetch('/health', { signal, headers: { Accept: 'application/json' } })).text()) as Extract<
        Responses['getHealth'],
        object
      >,
    refreshMilliseconds,
    { isEnabled },
  );
  const notReady = health.data?.parts.filter(({ ready }) => !ready) ?? [];
  const tone = !reachable || notReady.length > 0 ? 'warn' : 'good';
  const state = !reachable
    ? 'not reachable'
    : health.data === undefined
      ? '…'
      : notReady.length === 0
        ? 'healthy'
        : `not ready: ${notReady.map(({ name }) => name).join(', ')}`;
  return (
    <footer class="bottom">
      <span>
        Lendstream {version.data?.version ?? ''}{' '}
        <span class={`tag ${tone}`} title={notReady.map(({ name, reason }) => `${name}: ${reason ?? ''}`).join('\n')}>
          {state}
        </span>{' '}
        {openToAll ? (
          <span
            class="tag warn"
            title="Everybody who reaches the service may do everything. AUTHENTICATION=required closes it."
          >
            open without keys
          </span>
        ) : null}
      </span>
      <span class="actions">
        <a href="/docs">API documentation</a>
        <a href="/openapi.json">OpenAPI</a>
        {storedKey() === null ? null : (
          <button class="quiet" onClick={signOut}>
            Sign out
          </button>
        )}
      </span>
    </footer>
  );
}
