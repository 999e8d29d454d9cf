import { expect } from 'chai';
import { describe, it } from 'mocha';
import { produceRequest } from '../../../src/kafka/protocol/produce-request.ts';
import { int16, int32, int64, text } from '../../support/kafka/frames.ts';

describe('A request to store records', () => {
  const part = (topic: string, partition: number, bytes: string) => ({ topic, partition, bytes: Buffer.from(bytes) });

  it('waits up to two seconds for all replicas, and names each topic once', () => {
    const request = produceRequest([part('a', 3, 'one'), part('b', 0, 'two'), part('a', 4, 'three')], null);
    expect(request).to.include({ brokerMilliseconds: 2_000, isThrottleLast: true });
    const batch = (partition: number, bytes: string) =>
      Buffer.concat([int32(partition), int32(bytes.length), Buffer.from(bytes)]);
    expect(Buffer.concat(request.encode() as Buffer[]).toString('hex')).to.equal(
      Buffer.concat([
        Buffer.concat([int16(-1), int16(-1), int32(2_000), int32(2)]),
        Buffer.concat([text('a'), int32(2), batch(3, 'one'), batch(4, 'three')]),
        Buffer.concat([text('b'), int32(1), batch(0, 'two')]),
      ]).toString('hex'),
    );
  });

  it('reads the result of each partition', () => {
    const result = (partition: number, errorCode: number, offset: bigint) =>
      Buffer.concat([int32(partition), int16(errorCode), int64(offset), int64(1n), int64(2n)]);
    const topics = [
      Buffer.concat([text('a'), int32(2), result(3, 0, 2n ** 40n), result(4, 19, -1n)]),
      Buffer.concat([text('b'), int32(1), result(0, 0, 7n)]),
    ];
    expect(produceRequest([], 'writer').decode(Buffer.concat([int32(2), ...topics, int32(0)]))).to.deep.equal([
      { topic: 'a', partition: 3, errorCode: 0, baseOffset: 2 ** 40 },
      { topic: 'a', partition: 4, errorCode: 19, baseOffset: -1 },
      { topic: 'b', partition: 0, errorCode: 0, baseOffset: 7 },
    ]);
  });
});
