import type { JSX } from 'preact';
import type { Responses } from '../../../contract.ts';
import { callUnlessUnchanged } from '../../api/api.ts';
import { listPath } from '../../api/api-lists.ts';
import { useLoaded } from '../../api/queries.ts';
import { Problem } from '../problem.tsx';
import { Skeleton } from '../skeleton.tsx';

type Change = Responses['listSchemaChanges']['changes'][number];
type Kind = Change['kind'];

/** The worst first. */
const kinds: readonly { readonly kind: Kind; readonly tone: string; readonly meaning: string }[] = [
  { kind: 'breaking', tone: 'bad', meaning: 'consumers of the earlier version may not understand new events' },
  {
    kind: 'narrowing',
    tone: 'warn',
    meaning: 'new events fit the earlier version, but not every earlier one fits the new',
  },
  { kind: 'extending', tone: 'good', meaning: 'properties were added' },
  { kind: 'wording', tone: '', meaning: 'validation sees no difference' },
];

interface SchemaChangesProperties {
  readonly name: string;
  readonly from: string;
  readonly to: string;
}

/** The changes between two versions of a schema, each with its kind, and what they mean for consumers. */
export function SchemaChanges({ name, from, to }: SchemaChangesProperties): JSX.Element {
  const address = listPath(`/event-types/${encodeURIComponent(name)}/schema-changes`, { from, to });
  const loaded = useLoaded(address, (signal) => callUnlessUnchanged<Responses['listSchemaChanges']>(address, signal));
  const changes = loaded.data?.changes ?? [];
  const isBreaking = changes.some(({ kind }) => kind === 'breaking');
  return (
    <>
      <Problem error={loaded.error} what="The changes cannot be classified." />
      {loaded.isLoading ? <Skeleton rows={2} /> : null}
      {loaded.data === undefined ? null : (
        <p class={isBreaking ? 'verdict' : 'verdict good'}>
          {changes.length === 0
            ? 'The versions differ in their layout alone.'
            : isBreaking
              ? `Breaking: consumers of ${from} may not understand events of ${to}.`
              : `Compatible: consumers of ${from} understand events of ${to}.`}
        </p>
      )}
      {kinds.map(({ kind, tone, meaning }) => {
        const ofKind = changes.filter((change) => change.kind === kind);
        return ofKind.length === 0 ? null : (
          <div key={kind} class="changes">
            <p>
              <span class={`tag ${tone}`}>{kind}</span> <span class="muted">{meaning}</span>
            </p>
            <ul>
              {ofKind.map(({ pointer, message }) => (
                <li key={`${pointer} ${message}`}>
                  <code>{pointer}</code> {message}
                </li>
              ))}
            </ul>
          </div>
        );
      })}
    </>
  );
}
