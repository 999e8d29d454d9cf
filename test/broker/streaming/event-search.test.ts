import { expect } from 'chai';
import { describe, it } from 'mocha';
import { closeCodes, type CloseCode } from '../../../src/broker/streaming/close-codes.ts';
import {
  allowanceInTurn,
  countsAsFailure,
  hasFailedTooOften,
  searchFrom,
  sendingTurn,
  type PartitionInTurn,
} from '../../../src/broker/streaming/event-search.ts';

const record = { failures: 3, firstOffset: 5, throughOffset: 9, isOneByOne: true };

const free: PartitionInTurn = { search: undefined, events: 5, uncommittedEvents: 0, handOverUntil: undefined };

const searched: PartitionInTurn = {
  ...free,
  search: { record, isHeld: false, isPassingOver: false, hasLetter: false },
};

const due = (): boolean => true;
const notDue = (): boolean => false;

describe('the search for an event that cannot be processed', () => {
  it('goes on until the last event to look at is committed', () => {
    expect(searchFrom(record, 4)).to.deep.equal({ record, isHeld: false, isPassingOver: false, hasLetter: false });
    expect(searchFrom(record, 8)).to.deep.equal({ record, isHeld: false, isPassingOver: false, hasLetter: false });
    expect(searchFrom(record, 9)).to.equal(undefined);
  });

  it('does not begin before a batch has failed too often', () => {
    expect(searchFrom(undefined, 4)).to.equal(undefined);
    expect(searchFrom({ ...record, isOneByOne: false }, 4)).to.equal(undefined);
  });

  it('finds the event whose failures were counted, at the maximum of sends and not below', () => {
    const search = { record, isHeld: false, isPassingOver: false, hasLetter: false };
    expect(hasFailedTooOften(search, 5, 3)).to.equal(true);
    expect(hasFailedTooOften(search, 5, 2)).to.equal(true);
    expect(hasFailedTooOften(search, 5, 4)).to.equal(false);
    expect(hasFailedTooOften(search, 6, 3), 'another event').to.equal(false);
  });

  it('counts an end that the consumer brought about, and any end after its time to commit was over', () => {
    const counted = closeCodes.filter((code) => countsAsFailure(code as CloseCode, false));
    expect(counted).to.have.members([
      'stream_timeout',
      'stream_limit',
      'commit_timeout',
      'keep_alive_limit',
      'handover_timeout',
      'client_closed',
    ]);
    for (const code of closeCodes) expect(countsAsFailure(code as CloseCode, true), code).to.equal(true);
  });
});

describe('whose turn it is to send', () => {
  it('is that of all while nothing is searched', () => {
    const partitions = [free, { ...free, uncommittedEvents: 3 }];
    expect(sendingTurn(partitions, due, true, 0)).to.equal('all');
    expect(allowanceInTurn('all', free, 7)).to.equal(7);
  });

  it('is over while an event of a search is with the consumer', () => {
    const partitions = [free, { ...searched, uncommittedEvents: 1 }, searched];
    expect(sendingTurn(partitions, due, true, 0)).to.equal('none');
    expect(allowanceInTurn('none', free, 7)).to.equal(0);
  });

  it('has not come while events of others have to be committed before an event may be sent alone', () => {
    expect(sendingTurn([{ ...free, uncommittedEvents: 1 }, searched], due, false, 0)).to.equal('none');
  });

  it('is one search with one event, then the others if they have something to send', () => {
    const partitions = [free, searched];
    const turn = sendingTurn(partitions, due, false, 0);
    expect(turn).to.equal(searched);
    expect([allowanceInTurn(turn, searched, 7), allowanceInTurn(turn, free, 7)]).to.deep.equal([1, 0]);
    expect(allowanceInTurn(turn, searched, 0), 'the limit of the stream').to.equal(0);
    expect(sendingTurn(partitions, due, true, 0)).to.equal('others');
    expect([allowanceInTurn('others', searched, 7), allowanceInTurn('others', free, 7)]).to.deep.equal([0, 7]);
    expect(sendingTurn(partitions, notDue, true, 0)).to.equal(searched);
  });

  it('is asked only of partitions without a search', () => {
    const other = { ...free };
    sendingTurn(
      [searched, other],
      (partitions) => {
        expect(partitions).to.deep.equal([other]);
        return true;
      },
      true,
      0,
    );
  });

  it('is the others while a search has nothing to send, or its event is held or goes to another stream', () => {
    for (const change of [
      { events: 0 },
      { search: { record, isHeld: true, isPassingOver: false, hasLetter: false } },
      { handOverUntil: 1 },
    ]) {
      const partitions = [
        { ...free, uncommittedEvents: 2 },
        { ...searched, ...change },
      ];
      expect(sendingTurn(partitions, due, false, 0)).to.equal('others');
    }
  });

  it('goes round among several searches', () => {
    const [first, second] = [{ ...searched }, { ...searched }];
    expect(sendingTurn([first, second], due, false, 0)).to.equal(first);
    expect(sendingTurn([first, second], due, false, 1)).to.equal(second);
    expect(sendingTurn([first, second], due, false, 2)).to.equal(first);
  });
});
