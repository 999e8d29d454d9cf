import { expect } from 'chai';
import { describe, it } from 'mocha';
import { eventsEnd, eventsStart, lineEnd, lineFrame, lineStart } from '../../../src/broker/streaming/line-format.ts';
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
    for (let index = 0; index < 2_000; index += 1) lineFrame(`type-${index}`, 3);
    expect(lineFrame('payments', 3)).not.to.equal(frame);
    expect(lineFrame('payments', 3)).to.deep.equal(frame);
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
