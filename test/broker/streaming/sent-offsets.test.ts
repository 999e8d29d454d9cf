import { expect } from 'chai';
import { describe, it } from 'mocha';
import { SentOffsets } from '../../../src/broker/streaming/sent-offsets.ts';
import type { CommittedOffset } from '../../../src/ports/coordination.ts';

describe('what a stream with strict commits was sent', () => {
  const eventType = 'loans';

  function sentOffsets() {
    const recorded: (readonly CommittedOffset[])[] = [];
    const coordination = {
      async recordSent(_subscriptionId: string, _streamId: string, sent: readonly CommittedOffset[]): Promise<boolean> {
        recorded.push(sent);
        return true;
      },
    };
    return { sent: new SentOffsets(coordination, 'subscription', 'stream'), recorded };
  }

  const partition = (number: number, sentThrough: number, committedThrough = -1, startsBehindLoss = false) => ({
    eventType,
    partition: number,
    sentThrough,
    committedThrough,
    startsBehindLoss,
  });

  it('has news when a partition was sent more, and none for keep-alives', async () => {
    const { sent, recorded } = sentOffsets();
    expect(sent.note([partition(0, -1), partition(1, 4, 4)])).to.equal(false);
    expect(sent.note([partition(0, 2), partition(1, 4, 4)])).to.equal(true);
    expect(sent.note([partition(0, 2)])).to.equal(false);
    expect(sent.note([partition(0, 2), partition(1, 5, 4)])).to.equal(true);
    expect(await sent.record()).to.equal(true);
    expect(recorded).to.deep.equal([
      [
        { eventType, partition: 0, offset: 2 },
        { eventType, partition: 1, offset: 5 },
      ],
    ]);
  });

  it('has the position behind what retention deleted, which keep-alives carry too', async () => {
    const { sent, recorded } = sentOffsets();
    expect(sent.note([partition(0, 6, 6, true)])).to.equal(true);
    expect(sent.note([partition(0, 6, 6, true)])).to.equal(false);
    await sent.record();
    expect(recorded).to.deep.equal([[{ eventType, partition: 0, offset: 6 }]]);
  });

  it('knows that the store has a position which is committed, or has left', () => {
    const { sent } = sentOffsets();
    expect(
      [partition(0, 6, 6), partition(0, 7, 6), partition(0, 6, 6, true)].map((each) => sent.isKnown(each)),
    ).to.deep.equal([true, false, false]);
    sent.note([partition(0, 7, 6)]);
    expect(sent.isKnown(partition(0, 7, 6)), 'noted').to.equal(false);
    sent.noteLeft();
    expect([partition(0, 7, 6), partition(0, 8, 6)].map((each) => sent.isKnown(each))).to.deep.equal([true, false]);
  });

  it('keeps what was sent of partitions that the stream no longer has, and never goes back', async () => {
    const { sent, recorded } = sentOffsets();
    sent.note([partition(0, 7)]);
    expect(sent.note([partition(1, 3)])).to.equal(true);
    expect(sent.note([partition(0, 6)])).to.equal(false);
    await sent.record();
    expect(recorded[0]?.map(({ offset }) => offset)).to.deep.equal([7, 3]);
  });

  it('knows what has left, which is nothing before it is said', () => {
    const { sent } = sentOffsets();
    const places = [0, 1].map((number) => ({ eventType, partition: number }));
    const left = (): number[] => places.map((place) => sent.leftThrough(place));
    expect(left()).to.deep.equal([-1, -1]);
    sent.note([partition(0, 0)]);
    expect(left()).to.deep.equal([-1, -1]);
    sent.noteLeft();
    expect(left()).to.deep.equal([0, -1]);
    sent.note([partition(0, 4), partition(1, 2)]);
    expect(left()).to.deep.equal([0, -1]);
    sent.noteLeft();
    expect(left()).to.deep.equal([4, 2]);
  });

  it('has news of the first event', () => {
    const { sent } = sentOffsets();
    expect(sent.note([partition(0, 0)])).to.equal(true);
    expect(sent.note([partition(0, 0)])).to.equal(false);
  });

  it('has positions after records that are never sent', async () => {
    const { sent, recorded } = sentOffsets();
    sent.notePassedOver([
      { eventType, partition: 0, committableWithoutConsumer: 9 },
      { eventType, partition: 1, committableWithoutConsumer: undefined },
    ]);
    await sent.record();
    expect(recorded[0]).to.deep.equal([{ eventType, partition: 0, offset: 9 }]);
  });
});
