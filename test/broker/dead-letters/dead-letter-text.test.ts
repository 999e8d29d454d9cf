import { expect } from 'chai';
import { describe, it } from 'mocha';
import { validate, version } from 'uuid';
import {
  copiedBytesMaximum,
  deadLetterEid,
  deadLetterFields,
} from '../../../src/broker/dead-letters/dead-letter-text.ts';

const letter = {
  subscriptionId: '3f0f7a2e-3c6a-4a8e-9f0f-0d3f1c2b4a5d',
  eventType: 'loans',
  partition: 2,
  offset: 17,
  reason: 'It failed.',
  value: Buffer.from('{"amount":0.1000,"id":9007199254740993}'),
  isJson: true,
};

describe('the text of a dead letter', () => {
  it('has the event byte for byte, where it was, and why it was passed over', () => {
    expect(`{${deadLetterFields(letter)}}`).to.equal(
      '{"subscription_id":"3f0f7a2e-3c6a-4a8e-9f0f-0d3f1c2b4a5d","event_type":"loans","partition":"2",' +
        '"offset":"001-0001-000000000000000017","error":{"message":"It failed."},' +
        '"event":{"amount":0.1000,"id":9007199254740993}}',
    );
  });

  it('has a record that is not JSON as text, or in base64 when it is no text', () => {
    const records = [Buffer.from('{"half'), Buffer.from([0xff, 0x00])].map((value) => {
      const { record } = JSON.parse(`{${deadLetterFields({ ...letter, value, isJson: false })}}`) as {
        record: unknown;
      };
      return record;
    });
    expect(records).to.deep.equal([
      { encoding: 'utf-8', value: '{"half' },
      { encoding: 'base64', value: '/wA=' },
    ]);
  });

  it('copies an event of 2 MiB, and says of a longer one that it is left out', () => {
    const longest = Buffer.from(`"${'x'.repeat(copiedBytesMaximum - 2)}"`);
    expect(deadLetterFields({ ...letter, value: longest })).to.include('"event":"xxx');
    const longer = Buffer.from(`"${'x'.repeat(copiedBytesMaximum - 1)}"`);
    const parsed = JSON.parse(`{${deadLetterFields({ ...letter, value: longer })}}`) as Record<string, unknown>;
    expect(parsed).to.not.have.any.keys('event', 'record');
    expect(parsed['error']).to.deep.equal({
      message: `It failed. It has ${copiedBytesMaximum + 1} bytes, too many to copy: read it where it is stored.`,
    });
  });

  it('has an eid that only another event of another place or subscription does not share', () => {
    const eid = deadLetterEid(letter);
    expect([validate(eid), version(eid)]).to.deep.equal([true, 5]);
    expect(deadLetterEid({ ...letter, reason: 'again', value: Buffer.from('1') })).to.equal(eid);
    const others = [{ subscriptionId: 'other' }, { eventType: 'fees' }, { partition: 3 }, { offset: 18 }];
    const eids = others.map((change) => deadLetterEid({ ...letter, ...change }));
    expect(new Set([eid, ...eids]).size).to.equal(5);
  });
});
