import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  eventTypesOfFramesMaximum,
  eventsEnd,
  eventsStart,
  lineEnd,
  lineFrame,
  lineStart,
} from '../../../src/broker/streaming/line-format.ts';
import { ChunkBuilder } from '../../../src/broker/streaming/chunk-builder.ts';

describe('a line of a stream', () => {
  const frame = lineFrame('payments', 3);

  it('has its fields in the documented order', () => {
    const chunk = new ChunkBuilder();
    const events = Buffer.from('{"amount":"1.00"},{"name":"Zoë"}');
    chunk.addText(lineStart(frame, '001-0001-000000000000000003', 'token'));
    chunk.addText(eventsStart);
    chunk.addBytes(events, 0, events.length);
    chunk.addText(eventsEnd);
    chunk.addText(lineEnd({ debug: 'Stream started' }));
    expect(chunk.build().toString()).to.equal(
      '{"cursor":{"partition":"3","offset":"001-0001-000000000000000003","event_type":"payments",' +
        '"cursor_token":"token"},"events":[{"amount":"1.00"},{"name":"Zoë"}],"info":{"debug":"Stream started"}}\n',
    );
  });

  it('shares its constant parts with the lines of all other streams, for a limited number of event types', () => {
    expect(lineFrame('payments', 3)).to.equal(frame);
    expect(lineFrame('payments', 2)).not.to.equal(frame);
    const openOthers = (from: number, count: number): void => {
      for (let index = 0; index < count; index += 1) lineFrame(`type-${from + index}`, 3);
    };
    openOthers(0, eventTypesOfFramesMaximum - 1);
    expect(lineFrame('payments', 3)).to.equal(frame);
    openOthers(eventTypesOfFramesMaximum, eventTypesOfFramesMaximum);
    expect(lineFrame('payments', 3)).not.to.equal(frame);
    expect(lineFrame('payments', 3)).to.deep.equal(frame);
  });

  it('loses the parts of one event type when there are too many, those that streams asked for longest ago', () => {
    const forgotten = lineFrame('forgotten', 0);
    const next = lineFrame('next', 0);
    const used = lineFrame('used', 0);
    for (let index = 0; index < eventTypesOfFramesMaximum - 2; index += 1) {
      lineFrame(`more-${index}`, 0);
      expect(lineFrame('used', 0)).to.equal(used);
    }
    expect(lineFrame('next', 0)).to.equal(next);
    expect(lineFrame('forgotten', 0)).not.to.equal(forgotten);
  });

  it('has neither events nor info when both are empty', () => {
    expect(lineStart(frame, 'x', 'y') + lineEnd(undefined)).to.equal(
      '{"cursor":{"partition":"3","offset":"x","event_type":"payments","cursor_token":"y"}}\n',
    );
  });

  it('ends with the close reason as text and code, in ASCII', () => {
    expect(lineEnd({ debug: 'Zoë "left"\n', code: 'stream_timeout' })).to.equal(
      ',"info":{"debug":"Zo\\u00eb \\"left\\"\\n","code":"stream_timeout"}}\n',
    );
  });
});
