import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Requests, Responses, Schemas } from '../../contract.ts';
import { useAccess, type Access } from '../api/access.ts';
import { call } from '../api/api.ts';
import { useLoaded } from '../api/queries.ts';
import { Confirm } from '../parts/confirm.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { Field, TimeField } from '../parts/field.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Problem } from '../parts/problem.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { Table } from '../parts/lists/table.tsx';
import { Time } from '../parts/time.tsx';

const refreshMilliseconds = 5_000;

type ApiKey = Schemas['ApiKey'];

/** The API keys: who has which rights, creating one, and revoking one. */
export function ApiKeysPage(): JSX.Element {
  const keys = useLoaded(
    'api-keys',
    (signal) => call<Responses['listApiKeys']>('GET', '/api-keys', undefined, { signal }),
    refreshMilliseconds,
  );
  const access = useAccess();
  const [isCreating, setIsCreating] = useState(false);
  const [created, setCreated] = useState<Responses['createApiKey']>();
  const [keyToRevoke, setKeyToRevoke] = useState<ApiKey>();
  const [done, setDone] = useState('');
  return (
    <>
      <PageTitle title="API keys">
        <button class="primary" disabled={access.data === undefined} onClick={() => setIsCreating(true)}>
          Create a key
        </button>
      </PageTitle>
      {access.data === undefined ? null : <You access={access.data} />}
      <Problem error={keys.error} what="The keys cannot be shown." />
      <p role="status" class="done">
        {done}
      </p>
      {created === undefined ? null : <CreatedKey created={created} onClose={() => setCreated(undefined)} />}
      {keys.isLoading ? <Skeleton rows={3} /> : null}
      {keys.data?.items.length === 0 ? (
        <p class="muted">There are no keys but those of the settings of the service.</p>
      ) : null}
      {keys.data === undefined || keys.data.items.length === 0 ? null : (
        <section class="panel flush" aria-label="API keys">
          <Table
            label="API keys"
            rows={keys.data.items}
            keyOf={({ name }) => name}
            columns={[
              { name: 'Name', cell: ({ name }) => <span class="mono">{name}</span> },
              { name: 'Application', cell: ({ owning_application: application }) => application },
              { name: 'Roles and permissions', cell: ({ scopes }) => scopes.join(', ') },
              { name: 'Certificate', cell: ({ certificate_subject: subject }) => subject ?? '—' },
              {
                name: 'Created',
                cell: ({ created_at: at, created_by: by }) => (
                  <>
                    <Time at={at} /> by {by}
                  </>
                ),
              },
              { name: 'Last used', cell: ({ last_used_at: at }) => (at === null ? 'never' : <Time at={at} />) },
              { name: 'Expires', cell: ({ expires_at: at }) => (at === null ? 'never' : <Time at={at} />) },
              {
                name: 'Actions',
                cell: (key) => (
                  <button class="danger" aria-label={`Revoke ${key.name}`} onClick={() => setKeyToRevoke(key)}>
                    Revoke
                  </button>
                ),
              },
            ]}
          />
        </section>
      )}
      {isCreating && access.data !== undefined ? (
        <CreateKey
          access={access.data}
          onClose={() => setIsCreating(false)}
          onCreated={(key) => {
            setIsCreating(false);
            setCreated(key);
            setDone('');
            keys.reload();
          }}
        />
      ) : null}
      {keyToRevoke === undefined ? null : (
        <Confirm
          title={`Revoke ${keyToRevoke.name}?`}
          action="Revoke"
          dangerous
          onClose={() => setKeyToRevoke(undefined)}
          onConfirm={async () => {
            await call('DELETE', `/api-keys/${encodeURIComponent(keyToRevoke.name)}`);
            setDone(`${keyToRevoke.name} is revoked.`);
            setKeyToRevoke(undefined);
            keys.reload();
          }}
        >
          <p>Within a second, all processes refuse it and its streams end. It cannot be undone.</p>
        </Confirm>
      )}
    </>
  );
}

/** Who the user of the page is. */
function You({ access: { open, principal } }: { access: Access }): JSX.Element {
  if (open) {
    return (
      <p class="muted">
        The service is open: requests without a key may do everything. Keys count already for those who send them.
      </p>
    );
  }
  return (
    <p class="muted">
      You are <strong>{principal.name}</strong>
      {principal.application === null ? '' : ` of ${principal.application}`}, with {principal.scopes.join(', ')}.
    </p>
  );
}

/** The new key. It cannot be shown again. */
function CreatedKey({
  created: { name, key, certificate_subject: subject },
  onClose,
}: {
  created: Responses['createApiKey'];
  onClose: () => void;
}): JSX.Element {
  return (
    <section class="panel" aria-labelledby="created-key">
      <div class="title">
        <h2 id="created-key">{name} is created</h2>
        <div class="actions">
          <button onClick={onClose}>Close</button>
        </div>
      </div>
      {key === null ? (
        <p>
          Its holder has the certificate of <code>{subject}</code>.
        </p>
      ) : (
        <>
          <p>Copy the key now: it is not stored, and cannot be shown again.</p>
          <p>
            <code class="mono">{key}</code> <CopyButton text={key} what="the key" isNamed />
          </p>
        </>
      )}
    </section>
  );
}

/** The form of a new key. */
function CreateKey({
  access: { roles, permissions },
  onClose,
  onCreated,
}: {
  access: Access;
  onClose: () => void;
  onCreated: (created: Responses['createApiKey']) => void;
}): JSX.Element {
  const [name, setName] = useState('');
  const [application, setApplication] = useState('');
  const [scopes, setScopes] = useState<readonly string[]>([]);
  const [others, setOthers] = useState('');
  const [expiry, setExpiry] = useState('');
  const [subject, setSubject] = useState('');
  const toggle = (scope: string): void =>
    setScopes((before) => (before.includes(scope) ? before.filter((each) => each !== scope) : [...before, scope]));
  return (
    <Confirm
      title="Create an API key"
      action="Create"
      isWide
      onClose={onClose}
      onConfirm={async () => {
        const wanted: Requests['createApiKey'] = {
          name: name.trim(),
          owning_application: application.trim(),
          scopes: [...scopes, ...others.split(/[\s,]+/).filter((scope) => scope !== '')],
          expires_at: expiry === '' ? null : new Date(expiry).toISOString(),
          certificate_subject: subject.trim() === '' ? null : subject.trim(),
        };
        onCreated(await call<Responses['createApiKey']>('POST', '/api-keys', wanted));
      }}
    >
      <Field label="Name" value={name} onInput={setName} hint="Lower case letters, digits, dots, dashes, underscores" />
      <Field
        label="Application"
        value={application}
        onInput={setApplication}
        hint="What belongs to this application, the holder may use"
      />
      <fieldset class="choices">
        <legend>Roles</legend>
        {roles.map((role) => (
          <label key={role.name} class="choice" title={role.permissions.join(', ')}>
            <input type="checkbox" checked={scopes.includes(role.name)} onChange={() => toggle(role.name)} />
            {role.name}
          </label>
        ))}
      </fieldset>
      <details>
        <summary>Single permissions</summary>
        <div class="choices">
          {permissions.map((permission) => (
            <label key={permission.name} class="choice">
              <input
                type="checkbox"
                checked={scopes.includes(permission.name)}
                onChange={() => toggle(permission.name)}
              />
              <span>
                <code>{permission.name}</code>: {permission.text}
              </span>
            </label>
          ))}
        </div>
        <Field
          label="Single commands"
          value={others}
          onInput={setOthers}
          placeholder="loan-commands:REPAY"
          hint="With commas or spaces between them"
        />
      </details>
      <TimeField label="Expires" value={expiry} onInput={setExpiry} hint="Empty for a key that does not expire" />
      <Field
        label="Certificate"
        value={subject}
        onInput={setSubject}
        placeholder="CN=payments,O=Bank"
        hint="The subject of a client certificate, for a holder that needs no key. Leave it empty for a key"
      />
    </Confirm>
  );
}
