import type { JSX } from 'preact';
import type { Responses } from '../../../contract.ts';
import type { Exact } from '../../api/api.ts';

export type Loan = Exact<Responses['getLoan']>;

export function LoanState({ loan }: { loan: Loan }): JSX.Element {
  const { accountState: state, accountSubState: subState } = loan;
  const tone = state === 'ACTIVE' ? 'tag good' : state.includes('ARREARS') ? 'tag bad' : 'tag';
  const text = subState === undefined ? state : `${state}, ${subState}`;
  return <span class={tone}>{text.replaceAll('_', ' ').toLowerCase()}</span>;
}
