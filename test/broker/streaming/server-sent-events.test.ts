import { expect } from 'chai';
import { describe, it } from 'mocha';
import { AssignedPartitions } from '../../../src/broker/streaming/assigned-partitions.ts';
import { uncommittableLineFrame } from '../../../src/broker/streaming/line-format.ts';
import { LineSender } from '../../../src/broker/streaming/line-sender.ts';
import { idField, serverSentEvents } from '../../../src/broker/streaming/server-sent-events.ts';
import { StreamPartition } from '../../../src/broker/streaming/stream-partition.ts';
import { numberedEntries, recordBatch } from '../../support/kafka/record-batch.ts';

const rules = {
  batchLimit: 2,
  flushMilliseconds: 1_000,
  timespanMilliseconds: 0,
  streamLimit: 0,
  uncommittedEventsMaximum: Infinity,
};

function offset(number: number): string {
  return `001-0001-${String(number).padStart(18, '0')}`;
}

function prepare(): { sender: LineSender; partitions: readonly StreamPartition[] } {
  const partitions = [0, 1].map((partition) => {
    const frame = uncommittableLineFrame(partition);
    return new StreamPartition({ eventType: 'payments', partition, fence: 0 }, -1, 0, frame);
  });
  const assigned = new AssignedPartitions(partitions, 1_000_000);
  return { sender: new LineSender(rules, assigned, false, serverSentEvents), partitions };
}

describe('the lines of a stream as server-sent events', () => {
  it('have the positions after each of them, of all partitions', () => {
    const { sender, partitions } = prepare();
    partitions[0]?.addRecords({ batches: [recordBatch(numberedEntries(0, 3))], nextOffset: 4 });
    expect(sender.nextChunk(1)?.toString()).to.equal(
      [
        `data: {"cursor":{"partition":"0","offset":"${offset(1)}"},"events":[0,1]}`,
        `id: [{"partition":"0","offset":"${offset(1)}"},{"partition":"1","offset":"001-0001--1"}]`,
        '',
        `data: {"cursor":{"partition":"0","offset":"${offset(3)}"},"events":[2,3]}`,
        `id: [{"partition":"0","offset":"${offset(3)}"},{"partition":"1","offset":"001-0001--1"}]`,
        '\n',
      ].join('\n'),
    );
  });

  it('are comments when they have no events, and say why the stream ends in an event of its own', () => {
    const { sender, partitions } = prepare();
    const info = { debug: 'Zoë\n', code: 'stream_timeout' };
    expect(sender.lastChunk(partitions.slice(1), info, 1, true).toString()).to.equal(
      [
        `: {"cursor":{"partition":"1","offset":"001-0001--1"}}`,
        `id: [{"partition":"0","offset":"001-0001--1"},{"partition":"1","offset":"001-0001--1"}]`,
        '',
        'event: end',
        String.raw`data: {"debug":"Zo\u00eb\n","code":"stream_timeout"}`,
        '\n',
      ].join('\n'),
    );
  });

  it('report anything else as info', () => {
    const positions = { cursors: () => '[]' };
    const end = '}\nid: []\n\nevent: info\ndata: {"debug":"Stream started"}\n\n';
    expect(serverSentEvents.lineEnd({ debug: 'Stream started' }, positions)).to.equal(end);
    expect(idField('[]')).to.equal('id: []\n');
  });
});
