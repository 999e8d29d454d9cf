import { expect } from 'chai';
import { describe, it } from 'mocha';
import { eventItem } from '../../../src/broker/retained-events/event-item.ts';
import { recordBatch } from '../../support/kafka/record-batch.ts';

describe('the item of an event', () => {
  it('has its place, its time and its bytes as they are', () => {
    const value = '{"amount": 1.10,  "text":"a \\\\u00e4"}';
    const batch = recordBatch(
      [
        { offset: 41, value: '{}' },
        { offset: 42, value },
      ],
      true,
      Date.UTC(2026, 0, 31),
    );
    const item = eventItem({ batch, index: 1, offset: 42 }).toString();
    expect(item).to.contain(`"event":${value}}`);
    expect(item).to.contain('"offset":"001-0001-000000000000000042","timestamp":"2026-01-31T00:00:00.000Z"');
    expect(JSON.parse(item)).to.have.property('event');
  });

  it('has a key if its record has one, also one that JSON has to escape', () => {
    const batch = { ...recordBatch([{ offset: 0, value: '{}' }]), key: () => 'a"b' };
    expect(JSON.parse(eventItem({ batch, index: 0, offset: 0 }).toString())).to.have.property('key', 'a"b');
    const without = { ...batch, key: () => null };
    expect(JSON.parse(eventItem({ batch: without, index: 0, offset: 0 }).toString())).not.to.have.property('key');
  });
});
