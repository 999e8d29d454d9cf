import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { parseShortPositions } from '../../src/broker/cursors/short-positions.ts';
import { Lendstream } from '../../src/client/client.ts';
import { listCharactersMaximum, positionsText } from '../../src/client/position-texts.ts';
import { startServiceHere, type ServiceHere } from '../support/processes/service-here.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';

const offsets = ['001-0001-000000000000000388', '001-0001-000000000000000000', '001-0001--1', 'BEGIN'];
const numbers = ['388', '0', '-1', '-1'];

function positions(count: number): { partition: string; offset: string }[] {
  return Array.from({ length: count }, (_, index) => ({
    partition: String(index),
    offset: offsets[index % offsets.length] ?? '',
  }));
}

describe('the positions at which a client begins', () => {
  it('are a list until it would be too long, and then the short form of the same', () => {
    let count = 1;
    while (JSON.stringify(positions(count + 1)).length <= listCharactersMaximum) count += 1;
    expect(positionsText(positions(count))).to.equal(JSON.stringify(positions(count)));
    expect(parseShortPositions(positionsText(positions(count + 1)))).to.deep.equal(
      positions(count + 1).map(({ partition }, index) => ({ partition, offset: numbers[index % numbers.length] })),
    );
  });

  it('name a partition again where its number does not follow', () => {
    const [first, ...others] = positions(1_000);
    const text = positionsText([...others, ...(first === undefined ? [] : [first])]);
    expect(text).to.match(/^p1\.0\.-1\.-1\.388\..*\.p0\.388$/);
    expect(parseShortPositions(text)?.slice(-2)).to.deep.equal([
      { partition: '999', offset: '-1' },
      { partition: '0', offset: '388' },
    ]);
  });

  it('are a list, however long, where one of them is a time', () => {
    const timed = [...positions(1_000), { partition: '1000', offset: 'TIME:2026-01-31T12:00:00Z' }];
    expect(positionsText(timed)).to.equal(JSON.stringify(timed));
  });
});

describe('a client that follows an event type of a thousand partitions', () => {
  let folder: string;
  let service: ServiceHere;

  before(async function () {
    this.timeout(60_000);
    folder = await temporaryFolder();
    service = await startServiceHere(folder, { EVENT_TYPE_PARTITIONS_MAXIMUM: '1000' });
  });

  after(async () => {
    await service.stop();
    await removeFolder(folder);
  });

  it('gets the events of all of them', async () => {
    const lendstream = new Lendstream({ url: service.url });
    const many = { messages_per_minute: 1, message_size: 1, read_parallelism: 1_000, write_parallelism: 1_000 };
    await lendstream.createEventType({
      name: 'many',
      owning_application: 'shop',
      category: 'undefined',
      schema: { type: 'json_schema', schema: '{}' },
      default_statistic: many,
    });
    expect(await lendstream.partitions('many')).to.have.length(1_000);
    await lendstream.publish('many', [{ number: 1 }, { number: 2 }, { number: 3 }]);
    const found: unknown[] = [];
    for await (const { events } of lendstream.tail('many', { from: 'begin', eventsMaximum: 3 })) {
      found.push(...events.map(({ number }) => number));
    }
    expect(found).to.have.members([1, 2, 3]);
  }).timeout(60_000);
});
