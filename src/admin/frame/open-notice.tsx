import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { connection } from '../api/connection-state.ts';

const dismissedName = 'lendstream.open-notice';

const isDismissed = signal(sessionStorage.getItem(dismissedName) !== null);

/** Tells that the service asks for no key, until the user has read it in this tab. The footer goes on telling it. */
export function OpenNotice(): JSX.Element | null {
  if (!connection.value.openToAll || isDismissed.value) return null;
  return (
    <div class="banner is-note" role="region" aria-label="Access">
      <span>
        This service is open: it asks for no API key, and everybody who reaches {location.host} may do everything. Set{' '}
        <code>AUTHENTICATION=required</code> and <code>API_KEYS</code> to close it.
      </span>
      <button
        class="quiet"
        onClick={() => {
          sessionStorage.setItem(dismissedName, 'read');
          isDismissed.value = true;
        }}
      >
        Hide
      </button>
    </div>
  );
}
