import { expect } from 'chai';
import { describe, it } from 'mocha';
import { BatchToSend } from '../../../src/kafka/produce/batch-to-send.ts';
import { incompressible } from '../../support/values/incompressible.ts';
import { schedule } from '../../support/values/large-values.ts';
import { encode } from '../protocol/encoded-batches.ts';

describe('a batch to send', () => {
  it('of large records is sent compressed, and still counts as encoded', async () => {
    const encoded = encode([{ key: null, value: schedule(100_000) }]);
    const batch = new BatchToSend(encoded, 1);
    await batch.finish();
    expect(batch.bytes.length).to.be.below(20_000);
    expect([batch.count, batch.encodedBytes]).to.deep.equal([1, encoded.length]);
  });

  it('is finished once: what is sent again is the same memory, which may have another identity by then', async () => {
    for (const value of [schedule(100_000), incompressible(100_000), Buffer.from('small')]) {
      const batch = new BatchToSend(encode([{ key: null, value }]), 1);
      await batch.finish();
      const { bytes } = batch;
      await batch.finish();
      expect(batch.bytes).to.equal(bytes);
    }
  });

  it('of small records, or of large ones that do not shrink, is sent as encoded', async () => {
    for (const value of [Buffer.from('{"n":1}'), schedule(16_000), incompressible(100_000)]) {
      const encoded = encode([{ key: null, value }]);
      const batch = new BatchToSend(encoded, 1);
      await batch.finish();
      expect(batch.bytes).to.equal(encoded);
    }
  });
});
