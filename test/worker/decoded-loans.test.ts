import { expect } from 'chai';
import { describe, it } from 'mocha';
import type { Loan } from '../../src/lending/loan.ts';
import { DecodedLoans, decodedBytesPerCharacter, decodedLoansBytesMaximum } from '../../src/worker/decoded-loans.ts';

/** Loans that only have to be told apart. */
const [first, second, third] = ['L1', 'L2', 'L3'].map((id) => ({ id }) as Loan) as [Loan, Loan, Loan];

describe('the decoded loans of a process', () => {
  const mebibyte = 1024 * 1024;

  it('take 24 MiB, seven times the length of their texts', () => {
    expect([decodedLoansBytesMaximum, decodedBytesPerCharacter]).to.deep.equal([24 * mebibyte, 7]);
    const loans = new DecodedLoans().openPartition();
    loans.set('L1', first, (12 * mebibyte) / 7);
    loans.set('L2', second, (12 * mebibyte) / 7);
    expect(loans.get('L1')).to.equal(first);
    loans.set('L3', third, 1);
    expect([loans.get('L1'), loans.get('L2'), loans.get('L3')]).to.deep.equal([first, undefined, third]);
  });

  it('share the limit over all partitions, and those unused for the longest are dropped first', () => {
    const decoded = new DecodedLoans(decodedBytesPerCharacter * 2);
    const [one, other] = [decoded.openPartition(), decoded.openPartition()];
    one.set('L1', first, 1);
    other.set('L2', second, 1);
    expect(one.get('L1')).to.equal(first);
    other.set('L3', third, 1);
    expect([one.get('L1'), other.get('L2'), other.get('L3')]).to.deep.equal([first, undefined, third]);
  });

  it('are not known to another partition, or to a later opening of the same one', () => {
    const decoded = new DecodedLoans();
    const loans = decoded.openPartition();
    loans.set('L1', first, 1);
    expect(decoded.openPartition().get('L1')).to.equal(undefined);
    expect(loans.get('L1')).to.equal(first);
  });
});
