import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { apiKeys, frameSplitter, int16, int32, int64, partitionsOf, readRequest } from './frames.ts';
import { refusal, text, toFrame, withAddresses, withErrorCode, type ApiName, type KafkaRequest } from './frames.ts';

function request(api: ApiName, apiVersion: number, ...body: Buffer[]): KafkaRequest {
  const header = [int16(apiKeys[api]), int16(apiVersion), int32(7), text('client')];
  return readRequest(Buffer.concat([...header, ...body]), 'broker:9092');
}

const oneTopic = (...partition: Buffer[]): Buffer =>
  Buffer.concat([int32(1), text('loans'), int32(1), int32(3), ...partition]);
const recordsOf = (length: number): Buffer => Buffer.concat([int32(length), Buffer.alloc(length, 1)]);

const produce = request('Produce', 7, int16(-1), int16(-1), int32(1000), oneTopic(recordsOf(20)));
const fetchPartition = [int32(-1), int64(5n), int64(-1n), int32(1024)];
const fetchHeader = [int32(-1), int32(500), int32(1), int32(4096), Buffer.from([1]), int32(0), int32(-1)];
const fetch = request('Fetch', 10, ...fetchHeader, oneTopic(...fetchPartition), int32(0));
const addPartitions = request('AddPartitionsToTxn', 1, text('writer'), int64(9n), int16(0), oneTopic());
const offsetCommit = request('OffsetCommit', 5, text('group'), int32(-1), text(''), oneTopic(int64(4n), int16(-1)));

describe('frames of the Kafka protocol', () => {
  it('are found however the bytes are split', () => {
    const contents = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 6 });
    fc.assert(
      fc.property(contents, fc.array(fc.integer({ min: 1, max: 11 }), { minLength: 1 }), (frames, cuts) => {
        const bytes = Buffer.concat(frames.map((frame) => toFrame(Buffer.from(frame))));
        const found: Buffer[] = [];
        const split = frameSplitter((frame) => found.push(frame));
        for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
          const length = cuts[turn % cuts.length] ?? 1;
          split(bytes.subarray(at, at + length));
          at += length;
        }
        expect(found.map((frame) => [...frame])).to.deep.equal(frames.map((frame) => [...frame]));
      }),
    );
  });

  it('identify a request', () => {
    const { apiKey, apiVersion, correlationId, clientId, target } = produce;
    expect({ apiKey, apiVersion, correlationId, clientId, target }).to.deep.equal({
      apiKey: 0,
      apiVersion: 7,
      correlationId: 7,
      clientId: 'client',
      target: 'broker:9092',
    });
  });

  for (const [name, sent] of Object.entries({ produce, fetch, addPartitions, offsetCommit })) {
    it(`list the partitions that a request names: ${name}`, () => {
      expect(partitionsOf(sent)).to.deep.equal([{ topic: 'loans', partitions: [3] }]);
    });
  }
});

describe('addresses in responses of the Kafka protocol', () => {
  const replace = ({ host, port }: { host: string; port: number }) => ({ host: `proxy-of-${host}`, port: port + 1 });
  const broker = (node: number, host: string, port: number, rack: Buffer): Buffer =>
    Buffer.concat([int32(node), text(host), int32(port), rack]);
  const rest = [text('cluster'), int32(1), int32(0)];

  for (const version of [1, 5, 6, 8]) {
    it(`are replaced for every broker: Metadata v${version}`, () => {
      const throttle = version >= 3 ? [int32(0)] : [];
      const brokers = (one: string, onePort: number, two: string, twoPort: number): Buffer[] => [
        ...throttle,
        int32(2),
        broker(1, one, onePort, int16(-1)),
        broker(2, two, twoPort, text('rack')),
        ...rest,
      ];
      const response = Buffer.concat(brokers('a', 1000, 'b', 2000));
      const expected = Buffer.concat(brokers('proxy-of-a', 1001, 'proxy-of-b', 2001));
      expect(withAddresses(request('Metadata', version), response, replace)).to.deep.equal(expected);
    });
  }

  it('are replaced for the coordinator, when there is one', () => {
    const coordinator = (node: number, host: string, port: number): Buffer =>
      Buffer.concat([int32(0), int16(0), text('NONE'), int32(node), text(host), int32(port)]);
    const sent = request('FindCoordinator', 2);
    expect(withAddresses(sent, coordinator(1, 'a', 1000), replace)).to.deep.equal(coordinator(1, 'proxy-of-a', 1001));
    expect(withAddresses(sent, coordinator(-1, '', -1), replace)).to.deep.equal(coordinator(-1, '', -1));
  });
});

describe('error codes in responses of the Kafka protocol', () => {
  const offsets = [int64(10n), int64(-1n), int64(0n)];
  const noOffsets = [int64(-1n), int64(-1n), int64(-1n)];
  const fetched = [int64(10n), int64(10n), int64(0n), int32(1), int64(1n), int64(2n), recordsOf(9)];
  const nothingFetched = [...noOffsets, int32(-1), int32(0)];
  const noCoordinator = [int16(-1), int32(-1), text(''), int32(-1)];

  const cases: [string, KafkaRequest, Buffer[], Buffer[]][] = [
    [
      'Produce',
      produce,
      [oneTopic(int16(0), ...offsets), int32(0)],
      [oneTopic(int16(19), int64(-1n), int64(-1n), int64(0n)), int32(0)],
    ],
    [
      'Fetch',
      fetch,
      [int32(0), int16(0), int32(0), oneTopic(int16(0), ...fetched)],
      [int32(0), int16(0), int32(0), oneTopic(int16(19), ...nothingFetched)],
    ],
    ['AddPartitionsToTxn', addPartitions, [int32(0), oneTopic(int16(0))], [int32(0), oneTopic(int16(19))]],
    ['OffsetCommit', offsetCommit, [int32(0), oneTopic(int16(0))], [int32(0), oneTopic(int16(19))]],
    ['EndTxn', request('EndTxn', 1), [int32(0), int16(0)], [int32(0), int16(19)]],
    [
      'InitProducerId',
      request('InitProducerId', 1),
      [int32(0), int16(0), int64(4n), int16(2)],
      [int32(0), int16(19), int64(-1n), int16(-1)],
    ],
    [
      'FindCoordinator',
      request('FindCoordinator', 2),
      [int32(0), int16(0), int16(-1), int32(1), text('broker'), int32(9092)],
      [int32(0), int16(19), ...noCoordinator],
    ],
  ];
  for (const [name, sent, response, expected] of cases) {
    it(`are put where the client expects them: ${name}`, () => {
      expect(withErrorCode(sent, Buffer.concat(response), 19)).to.deep.equal(Buffer.concat(expected));
    });
  }

  it('are not put into a response without partitions', () => {
    const empty = Buffer.concat([int32(0), int16(0), int32(0), int32(0)]);
    expect(withErrorCode(fetch, empty, 19)).to.equal(undefined);
  });

  it('are put into a refusal for every partition of the request', () => {
    expect(refusal(produce, 19)).to.deep.equal(Buffer.concat([oneTopic(int16(19), ...noOffsets), int32(0)]));
    const refusedFetch = Buffer.concat([int32(0), int16(0), int32(0), oneTopic(int16(6), ...nothingFetched)]);
    expect(refusal(fetch, 6)).to.deep.equal(refusedFetch);
    expect(refusal(addPartitions, 51)).to.deep.equal(Buffer.concat([int32(0), oneTopic(int16(51))]));
  });

  it('are not guessed for an unknown version', () => {
    expect(() => withErrorCode(request('Produce', 9), Buffer.alloc(40), 19)).to.throw('Version 9');
  });
});
