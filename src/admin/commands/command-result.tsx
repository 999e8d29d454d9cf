import type { JSX } from 'preact';
import { sentence } from '../api/error-words.ts';
import { path } from '../navigation.ts';
import { Id } from '../parts/id.tsx';
import { Link } from '../parts/link.tsx';
import { EventsOfCommand } from '../parts/loan/events.tsx';
import type { CommandOutcome, CommandSubject } from './send-command.ts';

interface CommandResultProperties {
  readonly outcome: CommandOutcome;
  readonly type: string;
  readonly subject: CommandSubject;
}

const tones = { COMMITTED: 'good', REFUSED: 'bad', FAILED: 'bad', PENDING: '' } as const;
const words = { COMMITTED: 'done', REFUSED: 'refused', FAILED: 'failed', PENDING: 'pending' } as const;

/** What became of a command, and the events that it made. */
export function CommandResult({ outcome, type, subject }: CommandResultProperties): JSX.Element {
  const { commandId, status, errors = [] } = outcome;
  return (
    <section class="panel flush" aria-label="Outcome" role="status">
      <div class="inset outcome">
        <h2>
          {type} <span class={`tag ${tones[status]}`}>{words[status]}</span>
        </h2>
        <Id id={commandId} what="the command id" />
        {errors.map(({ errorReason, errorSource, errorMessage }) => (
          <p key={`${errorReason} ${errorSource}`} class="problem">
            {[errorMessage ?? sentence(errorReason), errorSource === undefined ? '' : `(${errorSource})`].join(' ')}
          </p>
        ))}
        {status === 'FAILED' ? (
          <p>
            It could not be decided.{' '}
            <Link to={`${path('event-types', 'lendstream.loan-commands')}/dead-letters`}>Its dead letter</Link> has the
            reason.
          </p>
        ) : null}
      </div>
      {'loanAccountId' in subject ? <EventsOfCommand loanId={subject.loanAccountId} commandId={commandId} /> : null}
    </section>
  );
}
