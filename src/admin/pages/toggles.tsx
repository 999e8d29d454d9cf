import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Responses, Requests, Schemas } from '../../contract.ts';
import { call } from '../api/api.ts';
import { useLoaded } from '../api/queries.ts';
import { Confirm } from '../parts/confirm.tsx';
import { FieldName } from '../parts/field-name.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Problem } from '../parts/problem.tsx';
import { Time } from '../parts/time.tsx';

const refreshMilliseconds = 5_000;

type Toggle = Schemas['Toggle'];

interface Meaning {
  readonly effect: string;
  /** Names in responses and events while it is off, and those that replace them while it is on. */
  readonly renames: readonly (readonly [off: string, on: string])[];
}

const meanings: Readonly<Record<string, Meaning>> = {
  ALLOW_NON_SCHEDULED_FEES: {
    effect: 'Allows fees that belong to no installment, and shows them separately in balances and events.',
    renames: [
      ['feesDue', 'scheduledFeesDue'],
      ['feesPaid', 'scheduledFeesPaid'],
      ['feesBalance', 'scheduledFeesBalance'],
      ['—', 'nonScheduledFeeBalance'],
      ['—', 'nonScheduledFeePaidBalance'],
    ],
  },
  PRINCIPAL_OVERPAYMENT: {
    effect: 'Shows the overpaid principal on each row of a schedule. Loans can be overpaid without it.',
    renames: [['—', 'nonScheduledPrincipalBalanceOverpayment']],
  },
  fixInstallmentTaxOnPenalty: {
    effect:
      'Renames nothing. For a fixed-term loan, the tax due on the penalties of a row is calculated once from the ' +
      'total due, instead of by adding the rounded tax of each penalty.',
    renames: [],
  },
};

/** The feature toggles: their effects, and switching them. */
export function TogglesPage(): JSX.Element {
  const toggles = useLoaded(
    'toggles',
    (signal) => call<Responses['listToggles']>('GET', '/toggles', undefined, { signal }),
    refreshMilliseconds,
  );
  const [toggleToSwitch, setToggleToSwitch] = useState<Toggle>();
  const [done, setDone] = useState('');
  return (
    <>
      <PageTitle title="Toggles" />
      <p class="muted">A toggle takes effect from the next command. Events that are already published do not change.</p>
      <Problem error={toggles.error} what="The toggles cannot be shown." />
      <p role="status" class="done">
        {done}
      </p>
      {toggles.data?.map((toggle) => (
        <ToggleCard key={toggle.name} toggle={toggle} onSwitch={() => setToggleToSwitch(toggle)} />
      ))}
      {toggleToSwitch === undefined ? null : (
        <Confirm
          title={`Switch ${toggleToSwitch.name} ${toggleToSwitch.enabled ? 'off' : 'on'}?`}
          action={toggleToSwitch.enabled ? 'Switch off' : 'Switch on'}
          onClose={() => setToggleToSwitch(undefined)}
          onConfirm={async () => {
            await call('PUT', `/toggles/${toggleToSwitch.name}`, {
              enabled: !toggleToSwitch.enabled,
            } satisfies Requests['switchToggle']);
            setDone(`${toggleToSwitch.name} is ${toggleToSwitch.enabled ? 'off' : 'on'} now.`);
            setToggleToSwitch(undefined);
            toggles.reload();
          }}
        >
          <p>{confirmation(toggleToSwitch)}</p>
        </Confirm>
      )}
    </>
  );
}

function confirmation({ name, enabled }: Toggle): string {
  const renames = meanings[name]?.renames.length ?? 0;
  return renames > 0
    ? `From the next command, all consumers of the lending events see the names under “While ${enabled ? 'off' : 'on'}”.`
    : 'From the next command, all consumers of the lending events may see different tax amounts.';
}

function ToggleCard({ toggle, onSwitch }: { toggle: Toggle; onSwitch: () => void }): JSX.Element {
  const { name, enabled, switchedAt } = toggle;
  const meaning = meanings[name];
  return (
    <section class="panel" aria-labelledby={`toggle-${name}`}>
      <div class="title">
        <h2 id={`toggle-${name}`} class="mono">
          {name}
        </h2>
        <div class="actions">
          <span class={enabled ? 'tag good' : 'tag'}>{enabled ? 'on' : 'off'}</span>
          <button onClick={onSwitch} aria-label={`Switch ${enabled ? 'off' : 'on'} ${name}`}>
            Switch {enabled ? 'off' : 'on'}
          </button>
        </div>
      </div>
      <p class="muted">
        {switchedAt === null ? (
          'Never switched.'
        ) : (
          <>
            Switched {enabled ? 'on' : 'off'} <Time at={switchedAt} />.
          </>
        )}
      </p>
      <p>{meaning?.effect}</p>
      {meaning === undefined || meaning.renames.length === 0 ? null : (
        <table aria-label={`Names under ${name}`} class="pair">
          <thead>
            <tr>
              <th scope="col">While off</th>
              <th scope="col">While on</th>
            </tr>
          </thead>
          <tbody>
            {meaning.renames.map(([off, on]) => (
              <tr key={on}>
                <td>
                  <FieldName name={off} muted={enabled} />
                </td>
                <td>
                  <FieldName name={on} muted={!enabled} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
