import { expect } from 'chai';
import { describe, it } from 'mocha';
import { createHash } from 'node:crypto';
import { AuditChain, type ChainHead } from '../../src/command-line/audit-chain.ts';

interface Linked {
  readonly sequence: number;
  readonly previous_hash: string;
  readonly who: string;
}

function chainOf(count: number): Linked[] {
  const records: Linked[] = [];
  let hash = '0'.repeat(64);
  for (let sequence = 1; sequence <= count; sequence += 1) {
    const record = { sequence, previous_hash: hash, who: `key-${sequence}` };
    records.push(record);
    hash = hashOf(record);
  }
  return records;
}

function hashOf(record: Linked): string {
  return createHash('sha256').update(JSON.stringify(record)).digest('hex');
}

function headOf(record: Linked | undefined): ChainHead {
  if (record === undefined) throw new Error('There is no such record');
  return { sequence: record.sequence, hash: hashOf(record) };
}

function faultsOf(records: readonly Linked[], anchor?: ChainHead): string[] {
  const chain = new AuditChain(anchor);
  for (const [at, record] of records.entries()) chain.take(String(at), record);
  return chain.faults().map(({ offset, message }) => `${offset ?? 'end'} ${message}`);
}

describe('the check of a chain', () => {
  const records = chainOf(6);

  it('finds nothing in a whole chain, in one that begins later, and in none', () => {
    expect(faultsOf(records)).to.deep.equal([]);
    expect(faultsOf(records.slice(3))).to.deep.equal([]);
    expect(faultsOf([])).to.deep.equal([]);
  });

  it('finds a changed record, wherever it is but at the end', () => {
    for (let at = 0; at < records.length - 1; at += 1) {
      const changed = records.with(at, { ...(records[at] as Linked), who: 'nobody' });
      expect(faultsOf(changed), String(at)).to.have.lengthOf(1);
    }
  });

  it('finds a missing record', () => {
    expect(faultsOf(records.toSpliced(2, 1))).to.deep.equal(['2 has the number 4, and 3 was to come']);
  });

  it('finds records in another order, and one that is there twice', () => {
    const [first, second, third, ...others] = records as [Linked, Linked, Linked, ...Linked[]];
    expect(faultsOf([first, third, second, ...others])).to.not.deep.equal([]);
    expect(faultsOf([first, second, second, third, ...others])).to.not.deep.equal([]);
  });

  it('finds a first record that follows another one', () => {
    expect(faultsOf([{ ...(records[0] as Linked), previous_hash: 'a'.repeat(64) }])).to.have.lengthOf(1);
  });

  it('finds with the last record of an earlier check that the end was cut off, changed or restored', () => {
    const anchor = headOf(records[4]);
    expect(faultsOf(records, anchor)).to.deep.equal([]);
    expect(faultsOf(records.slice(0, 5), anchor)).to.deep.equal([]);
    expect(faultsOf(records.slice(0, 4), anchor)[0]).to.match(/^end record 5 was here at the last check/);
    expect(faultsOf([], anchor)).to.have.lengthOf(1);
    const rewritten = [...records.slice(0, 4), { sequence: 5, previous_hash: headOf(records[3]).hash, who: 'other' }];
    expect(faultsOf(rewritten, anchor)[0]).to.match(/^4 is not the one of the last check/);
  });

  it('takes what was checked and has expired for expired', () => {
    expect(faultsOf(records.slice(3), headOf(records[1]))).to.deep.equal([]);
  });

  it('names what is no record', () => {
    const chain = new AuditChain();
    for (const event of [null, 1, {}, { sequence: 0, previous_hash: '' }]) chain.take('7', event);
    expect(chain.faults().map(({ message }) => message)).to.deep.equal(
      Array.from({ length: 4 }, () => 'is no record of the service'),
    );
  });
});
