import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import {
  consumeCountry,
  consumeSlowly,
  refusalOfCommit,
  resetTo,
  subscribeAt,
} from '../../../scripts/examples/stream-options.ts';
import { Lendstream, LendstreamError } from '../../../src/client/client.ts';
import { formatOffset, parseOffset } from '../../../src/broker/cursors/cursor-text.ts';
import { eventually } from '../../support/eventually.ts';
import { startServiceHere, type ServiceHere } from '../../support/processes/service-here.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';

describe('the example of what a stream offers beyond Nakadi', () => {
  let dataFolder: string;
  let service: ServiceHere;
  let lendstream: Lendstream;

  before(async function () {
    this.timeout(60_000);
    dataFolder = await temporaryFolder();
    service = await startServiceHere(dataFolder);
    lendstream = new Lendstream({ url: service.url });
    const schema = { type: 'json_schema', schema: '{}' } as const;
    const definition = { name: 'parcels', owning_application: 'shop', category: 'undefined', schema } as const;
    await lendstream.createEventType(definition);
    await lendstream.publish('parcels', [
      { parcel: 1, to: 'DE' },
      { parcel: 2, to: 'FR' },
      { parcel: 3, to: 'DE' },
    ]);
  });

  after(async () => {
    await service.stop();
    await removeFolder(dataFolder);
  });

  async function unconsumed(subscription: string): Promise<unknown> {
    const [statistics] = await lendstream.lag(subscription);
    return statistics?.partitions[0]?.unconsumed_events;
  }

  /** The parcels of a country until everything is consumed. */
  async function parcels(subscription: string, country: string): Promise<unknown[]> {
    const found: unknown[] = [];
    const consumer = consumeCountry(lendstream, subscription, country);
    const consuming = (async () => {
      for await (const { parcel } of consumer.events()) found.push(parcel);
    })();
    await eventually(async () => consumer.streamId !== '' && (await unconsumed(subscription)) === 0, 20_000);
    consumer.stop();
    await consuming;
    return found;
  }

  it('delivers the events of one country, commits what it passes over, and begins at times', async function () {
    this.timeout(60_000);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const time = new Date().toISOString();
    await lendstream.publish('parcels', [
      { parcel: 4, to: 'FR' },
      { parcel: 5, to: 'IT' },
    ]);
    const subscription = await subscribeAt(lendstream, 'parcels', time);
    expect(await parcels(subscription, 'FR')).to.deep.equal([4]);
    await resetTo(lendstream, subscription, 'parcels', '2020-01-01T00:00:00Z');
    expect(await parcels(subscription, 'DE')).to.deep.equal([1, 3]);
  });

  it('says why a position is refused that a stream with strict commits was not sent', async function () {
    this.timeout(60_000);
    const subscription = await subscribeAt(lendstream, 'parcels', '2020-01-01T00:00:00Z');
    const consumer = consumeCountry(lendstream, subscription, 'DE');
    const consuming = (async () => {
      for await (const event of consumer.events()) void event;
    })();
    await eventually(async () => consumer.streamId !== '' && (await unconsumed(subscription)) === 0, 20_000);
    const { streamId } = consumer;
    consumer.stop();
    await consuming;
    const [last] = await lendstream.partitions('parcels');
    const position = (offset: number) => ({ partition: '0', offset: formatOffset(offset) });
    const sent = parseOffset(last?.newest_available_offset ?? '');
    await lendstream.publish('parcels', [{ parcel: 6, to: 'DE' }]);
    expect(await refusalOfCommit(lendstream, subscription, streamId, 'parcels', position(sent + 1))).to.match(
      /was not sent it, and its commits are strict$/,
    );
    expect(await refusalOfCommit(lendstream, subscription, streamId, 'parcels', position(sent))).to.equal(undefined);
    expect(await unconsumed(subscription)).to.equal(1);
  });

  it('waits for commits as long as the annotation of the subscription allows, and no longer', async function () {
    this.timeout(60_000);
    const consumer = await consumeSlowly(lendstream, 'parcels');
    for await (const { parcel } of consumer.events()) {
      expect(parcel).to.equal(1);
      break;
    }
    let refusal: unknown;
    try {
      for await (const event of (await consumeSlowly(lendstream, 'parcels', 301)).events()) void event;
    } catch (error) {
      refusal = error;
    }
    expect(refusal).to.be.instanceOf(LendstreamError);
    expect(refusal).to.include({ status: 422, detail: 'commit_timeout can not be more than 300' });
  });
});
