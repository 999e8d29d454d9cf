import type {
  CommandHeader,
  CreateLoan,
  LoanCommand,
  RestructuringCommand,
  UndoRestructuringCommand,
} from '../../commands.ts';
import type { AdditionalFields } from '../../additional-fields.ts';
import type { Loan, LoanTransaction } from '../../loan.ts';
import { type Refusal, refusal } from '../../refusals.ts';
import { headerOf } from '../../replay/reposting.ts';
import type { DecisionContext } from '../decision.ts';
import { type Execution, execute } from '../execute.ts';
import { dayOfRestructuring } from './restructuring.ts';

type Committed = Extract<Execution, { outcome: 'committed' }>;

/**
 * A command on two accounts.
 * - `committed`: what each step did, in the order of their events. The steps of one account follow each other, and all
 *   of them belong into one commit.
 * - `refused`, `repeated`: as of {@link Execution}.
 */
export type ExecutionOnTwo =
  | { readonly outcome: 'committed'; readonly steps: readonly Committed[] }
  | Exclude<Execution, { outcome: 'committed' }>;

/** The context of a decision on each account of the command. */
export type ContextOf = (loanAccountId: string) => DecisionContext;

/**
 * Replaces an account by a new one: closes the old one, and opens, approves and disburses the new one with what is
 * transferred to it and the top-up. It pays the product's fees for due dates, and no fee of the disbursement.
 *
 * Refused as `decideRestructuring` refuses it; LOAN_PRODUCT_MISMATCH (another currency); and as the commands on the new
 * account are, with the path of the field within `loanAccount`.
 * @param opened The account that has the id of the new one already; null when none has.
 */
export function restructure(
  old: Loan,
  opened: Loan | null,
  command: RestructuringCommand,
  contextOf: ContextOf,
): ExecutionOnTwo {
  const closing = execute(old, command, contextOf(old.id));
  if (closing.outcome !== 'committed') return closing;
  const { product, topUpAmount, account, newAccountId: loanAccountId } = command;
  if (opened !== null) return refused(refusal('LOAN_ACCOUNT_ID_ALREADY_IN_USE', 'loanAccount.id'));
  if (product !== null && product.currency.code !== old.product.currency.code) {
    return refused(refusal('LOAN_PRODUCT_MISMATCH', 'loanAccount.productTypeKey'));
  }
  const transfer = closing.transactions.at(-1);
  if (transfer === undefined) throw new Error('nothing was transferred');
  const date = dayOfRestructuring(command);
  const header: CommandHeader & { readonly loanAccountId: string } = { ...headerOf(command), loanAccountId };
  const creation: CreateLoan = {
    type: 'CREATE_LOAN',
    ...header,
    ...inherited(old),
    ...account,
    product,
    loanAmount: transfer.amount.plus(topUpAmount),
    expectedDisbursementDate: date,
    originalAccount: { id: old.id, encodedKey: old.encodedKey },
  };
  const isPartial = product?.newAccountSettings.accountInitialState === 'PARTIAL_APPLICATION';
  const commands: readonly LoanCommand[] = [
    creation,
    ...(isPartial ? [{ type: 'CHANGE_STATE', action: 'REQUEST_APPROVAL', ...header } as const] : []),
    { type: 'CHANGE_STATE', action: 'APPROVE', ...header },
    { type: 'DISBURSE', ...header, valueDate: date, fees: [], isTransfer: true },
  ];
  return afterAll([closing], null, commands, ofNewAccount(contextOf(loanAccountId), contextOf(old.id)), true);
}

/**
 * Takes the replacement of an account back: the old account is as it was, and the new one is withdrawn.
 */
export function undoRestructuring(
  old: Loan,
  opened: Loan,
  command: UndoRestructuringCommand,
  contextOf: ContextOf,
): ExecutionOnTwo {
  const reopening = execute(old, { ...command, loanAccountId: old.id }, contextOf(old.id));
  if (reopening.outcome !== 'committed') return reopening;
  const header = { ...headerOf(command), loanAccountId: opened.id };
  const commands: readonly LoanCommand[] = [
    { ...command, ...header },
    { type: 'CHANGE_STATE', action: 'WITHDRAW', ...header },
  ];
  return afterAll([reopening], opened, commands, ofNewAccount(contextOf(opened.id), contextOf(old.id)), false);
}

/** The steps before, and those that commands one after the other lead to; the refusals of the first that is refused. */
function afterAll(
  before: readonly Committed[],
  start: Loan | null,
  commands: readonly LoanCommand[],
  context: DecisionContext,
  isBelowAccount: boolean,
): ExecutionOnTwo {
  const steps = [...before];
  let loan = start;
  for (const command of commands) {
    const step = execute(loan, command, context);
    if (step.outcome === 'refused') {
      const { refusals } = step;
      return { outcome: 'refused', refusals: isBelowAccount ? refusals.map(belowAccount) : refusals };
    }
    if (step.outcome === 'repeated') throw new Error(`${command.type} was done before`);
    steps.push(step);
    loan = step.loan;
  }
  return { outcome: 'committed', steps };
}

/** Keys of the new account that differ from those of the old one. */
function ofNewAccount(own: DecisionContext, old: DecisionContext): DecisionContext {
  return {
    ...own,
    // What these commands post to a new account, they post for the first time.
    transactions: { ...own.transactions, postedBy: (): LoanTransaction | undefined => undefined },
    newKey: (purpose) => (purpose === 'transaction' ? own.newKey(purpose) : old.newKey(`account/${purpose}`)),
  };
}

function belowAccount({ errorReason, errorSource }: Refusal): Refusal {
  if (errorSource === null || errorSource === 'loanAmount') return refusal(errorReason, 'loanAccount');
  return refusal(errorReason, `loanAccount.${sources[errorSource] ?? errorSource}`);
}

/** Fields that the new account has at other places than its commands. */
const sources: Readonly<Record<string, string>> = {
  firstRepaymentDate: 'disbursementDetails.firstRepaymentDate',
  arrearsTolerancePeriod: 'accountArrearsSettings.tolerancePeriod',
};

/** What the new account takes over: the holder, the name, where it belongs, and custom fields. */
function inherited({ loanName, accountHolderKey, accountHolderType, additionalFields }: Loan): Partial<CreateLoan> {
  const kept: Record<string, AdditionalFields[string]> = {};
  for (const [name, value] of Object.entries(additionalFields)) {
    if (name.startsWith('_') || name.startsWith('assigned')) kept[name] = value;
  }
  return {
    ...(loanName === null ? {} : { loanName }),
    ...(accountHolderKey === null ? {} : { accountHolderKey }),
    ...(accountHolderType === null ? {} : { accountHolderType }),
    additionalFields: kept,
  };
}

function refused(found: Refusal): ExecutionOnTwo {
  return { outcome: 'refused', refusals: [found] };
}
