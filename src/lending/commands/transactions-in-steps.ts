import type { Decision, DecisionContext } from './decision.ts';
import { evolve } from './evolve.ts';
import type { TransactionPosted } from './facts.ts';
import { withoutSettledFees } from '../fees/settled-fees.ts';
import type { Loan } from '../loan.ts';

/** Decides one transaction of several; null when the command needs none of this kind. */
export type Step = (loan: Loan, context: DecisionContext) => { readonly fact: TransactionPosted } | null;

/**
 * The transactions of a command that posts several, each decided on the loan that the one before led to. They are
 * committed together, and each of them can be adjusted, the last one first. The last one has the key by which the
 * command is recognised.
 * @returns null when no step posted anything
 */
export function inSteps(loan: Loan, context: DecisionContext, steps: readonly Step[]): Decision | null {
  const facts: TransactionPosted[] = [];
  let current = loan;
  for (const [index, step] of steps.entries()) {
    const newKey = (purpose: string): string => context.newKey(`${index}/${purpose}`);
    const decision = step(current, { ...context, newKey });
    if (decision === null) continue;
    facts.push(decision.fact);
    current = withoutSettledFees(evolve(current, decision.fact, context.calendar).loan);
  }
  const last = facts.pop();
  if (last === undefined) return null;
  const transaction = { ...last.transaction, encodedKey: context.newKey('transaction') };
  return { facts: [...facts, { ...last, transaction }] };
}
