import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { localTimeOf } from '../formats.ts';
import { Field, SelectField, TimeField } from '../parts/field.tsx';
import type { Conditions } from './conditions.ts';

interface ConditionsFormProperties {
  readonly conditions: Conditions;
  readonly partitions: readonly string[];
  readonly onSearch: (conditions: Conditions) => void;
}

/** Where a list can begin. */
type Beginning = 'newest' | 'oldest' | 'time' | 'offset';

function beginningOf({ from, forward }: Conditions): Beginning {
  if (from === '') return forward ? 'oldest' : 'newest';
  return isTime(from) ? 'time' : 'offset';
}

function isTime(from: string): boolean {
  return /^\d{4}-\d\d-\d\dT/.test(from);
}

/** What to look for, and from where. It is searched when the form is sent, as a search can take a while. */
export function ConditionsForm({ conditions, partitions, onSearch }: ConditionsFormProperties): JSX.Element {
  const [draft, setDraft] = useState(conditions);
  const [beginning, setBeginning] = useState(() => beginningOf(conditions));
  const set = (name: keyof Conditions) => (value: string) => setDraft((before) => ({ ...before, [name]: value }));
  const search = (): void => {
    const isPosition = beginning === 'time' || beginning === 'offset';
    onSearch({
      ...draft,
      from: isPosition ? draft.from.trim() : '',
      forward: beginning === 'oldest' || isPosition,
    });
  };
  return (
    <form
      class="toolbar conditions"
      role="search"
      aria-label="Events"
      onSubmit={(event) => {
        event.preventDefault();
        search();
      }}
    >
      <SelectField
        label="Begin at"
        value={beginning}
        onInput={(value) => {
          setBeginning(value as Beginning);
          setDraft((before) => ({ ...before, from: '' }));
        }}
        options={[
          ['newest', 'the newest'],
          ['oldest', 'the oldest'],
          ['time', 'a time'],
          ['offset', 'an offset'],
        ]}
      />
      {beginning === 'time' ? (
        <TimeField
          label="Time, in your time zone"
          value={localTimeOf(draft.from)}
          onInput={(value) => set('from')(value === '' ? '' : new Date(value).toISOString())}
        />
      ) : null}
      {beginning === 'offset' ? <Field label="Offset" value={draft.from} onInput={set('from')} /> : null}
      <SelectField
        label="Partition"
        value={draft.partition}
        onInput={set('partition')}
        options={[['', 'all'], ...partitions.map((each) => [each, each] as const)]}
      />
      <Field label="Text" value={draft.text} onInput={set('text')} />
      <Field label="Field = value" value={draft.field} onInput={set('field')} placeholder="order.id = A-1" />
      <Field label="Key" value={draft.key} onInput={set('key')} />
      <Field label="Event id (eid)" value={draft.eid} onInput={set('eid')} />
      <Field label="Flow id" value={draft.flowId} onInput={set('flowId')} />
      <div class="actions">
        <button class="primary" disabled={beginning === 'offset' && draft.partition === ''}>
          Find
        </button>
        <button
          type="button"
          onClick={() => {
            const none: Conditions = {
              text: '',
              eid: '',
              key: '',
              flowId: '',
              field: '',
              partition: '',
              from: '',
              forward: false,
            };
            setDraft(none);
            setBeginning('newest');
            onSearch(none);
          }}
        >
          Clear
        </button>
      </div>
    </form>
  );
}
