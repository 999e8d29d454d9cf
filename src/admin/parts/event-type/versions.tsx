import type { JSX } from 'preact';
import type { Responses } from '../../../contract.ts';
import { useAddressQuery } from '../../address-query.ts';
import { callUnlessUnchanged } from '../../api/api.ts';
import { useLoaded } from '../../api/queries.ts';
import { CopyButton } from '../copy-button.tsx';
import { SchemaChanges } from './schema-changes.tsx';
import { SchemaDifference } from './schema-difference.tsx';
import { Problem } from '../problem.tsx';
import { Skeleton } from '../skeleton.tsx';
import { Table } from '../lists/table.tsx';
import { Time } from '../time.tsx';

/** How many versions are listed: the newest ones. */
const versionsMaximum = 1_000;

/** The versions of a schema, newest first, and the difference of any two. */
export function TypeVersions({ name }: { name: string }): JSX.Element {
  const query = useAddressQuery();
  const address = `/event-types/${encodeURIComponent(name)}/schemas?limit=${versionsMaximum}`;
  const loaded = useLoaded(address, (signal) => callUnlessUnchanged<Responses['listSchemas']>(address, signal));
  const versions = loaded.data?.items ?? [];
  const chosen = (parameter: string, otherwise: number): Responses['listSchemas']['items'][number] | undefined =>
    versions.find(({ version }) => version === query.get(parameter)) ??
    versions[Math.min(otherwise, versions.length - 1)];
  const [from, to] = [chosen('from', 1), chosen('to', 0)];
  const choice = (label: string, parameter: string, current: string | undefined): JSX.Element => (
    <label class="field">
      <span>{label}</span>
      <select
        value={current}
        onChange={(event) => query.set({ [parameter]: event.currentTarget.value }, { replace: true })}
      >
        {versions.map(({ version }) => (
          <option key={version} value={version} selected={version === current}>
            {version}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <>
      <Problem error={loaded.error} what="The versions cannot be shown." />
      {loaded.isLoading ? <Skeleton rows={4} /> : null}
      {loaded.data === undefined ? null : (
        <section class="panel flush" aria-label="Versions">
          <Table
            label="Versions of the schema, newest first"
            rows={versions}
            keyOf={({ version }) => version}
            columns={[
              { name: 'Version', cell: ({ version }) => version },
              { name: 'Created', keyword: true, cell: ({ created_at: at }) => <Time at={at} /> },
              {
                name: 'By',
                hidden: versions.every(({ created_by: by }) => by === undefined),
                cell: ({ created_by: by }) => by ?? <span class="muted">—</span>,
              },
              {
                name: 'Schema',
                cell: ({ schema, version }) => <CopyButton text={schema} what={`schema ${version}`} isNamed />,
              },
            ]}
          />
        </section>
      )}
      {from === undefined || to === undefined || from === to ? null : (
        <section class="panel" aria-label="Difference">
          <div class="toolbar">
            {choice('From version', 'from', from.version)}
            {choice('To version', 'to', to.version)}
          </div>
          <SchemaChanges name={name} from={from.version} to={to.version} />
          <SchemaDifference from={from.schema} to={to.schema} />
        </section>
      )}
    </>
  );
}
