import { expect } from 'chai';
import { describe, it } from 'mocha';
import { Enrichments } from '../../../src/broker/publishing/enrichment.ts';

const type = { name: 'orders.created', version: '1.2.0' };
const facts = {
  publishedBy: 'shop',
  flowId: 'flow-1',
  receivedAt: '2026-03-15T22:47:15.123Z',
};
const sent = { eid: 'E', occurred_at: '2026-03-15T23:47:15+01:00' };

describe('Enrichments', () => {
  it('writes the fields of the broker in a fixed order', () => {
    expect(new Enrichments(type).of(facts).metadataOf(sent, 3)).to.equal(
      '{"occurred_at":"2026-03-15T23:47:15+01:00","published_by":"shop","eid":"E","event_type":"orders.created",' +
        '"partition":"3","received_at":"2026-03-15T22:47:15.123Z","flow_id":"flow-1","version":"1.2.0"}',
    );
  });

  it('has the texts around the time and the id', () => {
    const enrichment = new Enrichments(type).of(facts);
    const [beforeTime, beforeId, afterId] = enrichment.plainTextsOf(3);
    expect(beforeTime + sent.occurred_at + beforeId + sent.eid + afterId).to.equal(enrichment.metadataOf(sent, 3));
  });

  it('keeps parents, flow, span and compaction key of the producer', () => {
    const said = {
      parent_eids: ['P1', 'P2'],
      flow_id: 'mine "quoted"',
      span_ctx: { 'trace-id': '1' },
      partition_compaction_key: 'k',
    };
    const written = new Enrichments(type).of(facts).metadataOf({ ...sent, ...said, partition: '7' }, 0);
    expect(JSON.parse(written))
      .to.include.deep.keys(Object.keys(said))
      .and.to.deep.include({ ...said, partition: '0' });
    expect(written.indexOf('"parent_eids"')).to.be.lessThan(written.indexOf('"received_at"'));
  });

  it('keeps each of them also when the producer gives nothing else', () => {
    const enrichment = new Enrichments(type).of(facts);
    const plain = JSON.parse(enrichment.metadataOf(sent, 2)) as object;
    for (const field of [
      { parent_eids: ['P1'] },
      { flow_id: 'mine' },
      { span_ctx: { a: 'b' } },
      { partition_compaction_key: 'k' },
    ]) {
      expect(JSON.parse(enrichment.metadataOf({ ...sent, ...field }, 2))).to.deep.equal({ ...plain, ...field });
    }
  });

  it('keeps the place in the trace of the request, unless the producer gives one of its own', () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const enrichment = new Enrichments(type).of({ ...facts, traceparent });
    const plain = new Enrichments(type).of(facts);
    const traced = (text: string): string =>
      text.replace('"version":"1.2.0"', `"version":"1.2.0","span_ctx":{"traceparent":"${traceparent}"}`);
    expect(enrichment.metadataOf(sent, 3)).to.equal(traced(plain.metadataOf(sent, 3)));
    const keyed = { ...sent, partition_compaction_key: 'k' };
    expect(enrichment.metadataOf(keyed, 3)).to.equal(traced(plain.metadataOf(keyed, 3)));
    const own = { ...sent, span_ctx: { a: 'b' } };
    expect(enrichment.metadataOf(own, 3)).to.equal(plain.metadataOf(own, 3));
  });

  it('treats an empty flow id as missing', () => {
    expect(JSON.parse(new Enrichments(type).of(facts).metadataOf({ ...sent, flow_id: '' }, 0))).to.include({
      flow_id: 'flow-1',
    });
  });

  it('has what each request says, whatever the one before said', () => {
    const enrichments = new Enrichments(type);
    for (const publishedBy of ['shop', 'shop', 'bank', '', 'shop']) {
      for (const each of [facts, { ...facts, flowId: '', traceparent: 'place' }]) {
        const request = { ...each, publishedBy };
        const written = enrichments.of(request).metadataOf(sent, 1);
        expect(written).to.equal(new Enrichments(type).of(request).metadataOf(sent, 1));
        expect(JSON.parse(written)).to.include({ published_by: publishedBy, flow_id: each.flowId });
      }
    }
  });

  it('writes ASCII only, whatever the names', () => {
    const written = new Enrichments(type).of({ ...facts, publishedBy: 'Müller \u{1F600}\u2028' }).metadataOf(sent, 0);
    expect(written).to.match(/^[\x20-\x7e]*$/);
    expect(JSON.parse(written)).to.include({ published_by: 'Müller \u{1F600}\u2028' });
  });
});
