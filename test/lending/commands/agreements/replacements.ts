import {
  type ExecutionOnTwo,
  restructure,
  undoRestructuring,
} from '../../../../src/lending/commands/agreements/two-accounts.ts';
import type { RestructuringCommand, UndoRestructuringCommand } from '../../../../src/lending/commands.ts';
import {
  type AskedCommand,
  type Story,
  afterSteps,
  contextOf,
  loanOf,
  nextCommand,
  notDone,
  nothingYet,
  when,
} from '../../loan-fixtures.ts';

type Committed = Extract<ExecutionOnTwo, { outcome: 'committed' }>;
type AskedReplacement = AskedCommand & { readonly type: RestructuringCommand['type'] };
type AskedUndo = AskedCommand & { readonly type: UndoRestructuringCommand['type'] };

/** The account of a story, and those that it replaced or that replaced it. */
export function accountsOf(story: Story): readonly Story[] {
  return [story, ...story.others];
}

/**
 * The story after a command. After a replacement it is that of the new account, and after its undo that of the old one
 * again. The other account is among its others.
 */
export function act(story: Story, asked: AskedCommand): Story {
  const { type } = asked;
  if (type === 'RESCHEDULE' || type === 'REFINANCE') return replaced(story, asked);
  if (type === 'UNDO_RESCHEDULE' || type === 'UNDO_REFINANCE') return takenBack(story, asked);
  return when(story, asked);
}

/** The command that takes back what opened the account, when that is the last thing that was done to it; else null. */
export function undoOfReplacement(story: Story): AskedUndo | null {
  const last = story.transactions.findLast(({ undo }) => undo !== null);
  const subState = oldOf(story)?.loan?.position.accountSubState;
  if (subState === undefined || last?.type !== 'DISBURSEMENT') return null;
  return { type: subState === 'RESCHEDULED' ? 'UNDO_RESCHEDULE' : 'UNDO_REFINANCE' };
}

function replaced(story: Story, asked: AskedReplacement): Story {
  const old = loanOf(story);
  const command = nextCommand(story, asked) as RestructuringCommand;
  const { calendar, toggles, commandCount } = story;
  const empty: Story = { ...nothingYet, calendar, toggles, commandCount };
  const result = restructure(old, null, command, (id) =>
    contextOf(id === old.id ? story : empty, command.commandId, id),
  );
  if (result.outcome !== 'committed') return notDone(story, result);
  const closed = { ...afterSteps(story, stepsOf(result, old.id)), others: [] };
  const opened = afterSteps(empty, stepsOf(result, command.newAccountId));
  return { ...opened, others: [...story.others, closed] };
}

function takenBack(story: Story, asked: AskedUndo): Story {
  const former = oldOf(story);
  if (former === undefined) throw new Error('the account replaced none');
  const command = nextCommand(story, asked) as UndoRestructuringCommand;
  const { toggles, commandCount } = story;
  const [old, opened] = [loanOf(former), loanOf(story)];
  const before: Story = { ...former, toggles, commandCount };
  const result = undoRestructuring(old, opened, command, (id) =>
    contextOf(id === old.id ? before : story, command.commandId),
  );
  if (result.outcome !== 'committed') return notDone(story, result);
  const withdrawn = { ...afterSteps(story, stepsOf(result, opened.id)), others: [] };
  const others = story.others.filter((other) => other !== former);
  return { ...afterSteps(before, stepsOf(result, old.id)), others: [...others, withdrawn] };
}

/** The account that was replaced by that of the story. */
function oldOf(story: Story): Story | undefined {
  return story.others.find(({ loan }) => loan?.position.rescheduledTo?.id === story.loan?.id);
}

function stepsOf({ steps }: Committed, id: string): Committed['steps'] {
  return steps.filter(({ loan }) => loan.id === id);
}
