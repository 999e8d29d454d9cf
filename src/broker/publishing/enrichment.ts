/**
 * The metadata that the broker adds to an event. All metadata is written again, in a fixed order of keys. Most of it is
 * the same for a whole request and is prepared once.
 */

/** The metadata of an event as its producer sent it and validation accepted it. */
export interface ProducerMetadata {
  readonly eid: string;
  readonly occurred_at: string;
  readonly partition?: string;
  readonly parent_eids?: readonly string[];
  readonly flow_id?: string;
  readonly span_ctx?: Readonly<Record<string, string>>;
  readonly partition_compaction_key?: string;
}

/** What the metadata of all events of an event type says. */
export interface EnrichedType {
  readonly name: string;
  /** Version of the schema the events were validated with. */
  readonly version: string;
}

/** What the metadata of all events of a request says. */
export interface EnrichmentContext {
  readonly publishedBy: string;
  /** For events whose producer gave no flow id. */
  readonly flowId: string;
  /** For events whose producer gave no `span_ctx`: where they belong in a trace. ASCII without quotes. */
  readonly traceparent?: string | undefined;
  /** RFC 3339. */
  readonly receivedAt: string;
}

export interface Enrichment {
  /** The JSON text of the metadata of one event, in ASCII. */
  metadataOf(metadata: ProducerMetadata, partition: number): string;
  /** The same when the producer gave only an id and a time, both valid. */
  plainMetadataOf(eid: string, occurredAt: string, partition: number): string;
  /** The texts of which that consists, before the time, between the time and the id, and after the id. */
  plainTextsOf(partition: number): readonly [beforeTime: string, beforeId: string, afterId: string];
}

const beforeTime = '{"occurred_at":"';

/** JSON in which every character beyond ASCII is escaped, so that the text has the same bytes in every encoding. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Prepares what is the same in the metadata of many events of one event type. */
export class Enrichments {
  readonly #afterEid: string;
  readonly #version: string;
  /** The publisher of the last request and its text: many requests have the same one. */
  #publishedBy: string | undefined;
  #beforeId = '';

  constructor({ name, version }: EnrichedType) {
    this.#afterEid = `","event_type":${asciiJson(name)},"partition":"`;
    this.#version = `,"version":${asciiJson(version)}`;
  }

  /** Prepares the metadata that is the same for all events of a request. */
  of(context: EnrichmentContext): Enrichment {
    const { publishedBy } = context;
    if (publishedBy !== this.#publishedBy) {
      this.#publishedBy = publishedBy;
      this.#beforeId = `","published_by":${asciiJson(publishedBy)},"eid":"`;
    }
    return enrichmentOf(context, this.#beforeId, this.#afterEid, this.#version);
  }
}

function enrichmentOf(context: EnrichmentContext, beforeId: string, afterEid: string, version: string): Enrichment {
  const receivedAt = `,"received_at":"${context.receivedAt}","flow_id":`;
  const flowId = context.flowId === '' ? '""' : asciiJson(context.flowId);
  const { traceparent } = context;
  const trace = traceparent === undefined ? '' : `,"span_ctx":{"traceparent":"${traceparent}"}`;
  const afterPartition = `"${receivedAt}${flowId}${version}${trace}}`;
  /** By partition: the text after the eid when the producer gave nothing else. */
  const plainEnds: string[] = [];
  // Both were validated against formats without any character that JSON would escape.
  const startOf = (eid: string, occurredAt: string): string => `${beforeTime}${occurredAt}${beforeId}${eid}`;
  const plainEndOf = (partition: number): string =>
    (plainEnds[partition] ??= `${afterEid}${partition}${afterPartition}`);
  const plainMetadataOf = (eid: string, occurredAt: string, partition: number): string =>
    startOf(eid, occurredAt) + plainEndOf(partition);
  return {
    plainMetadataOf,
    plainTextsOf: (partition) => [beforeTime, beforeId, plainEndOf(partition)],
    metadataOf(metadata, partition) {
      if (isPlain(metadata)) return plainMetadataOf(metadata.eid, metadata.occurred_at, partition);
      const start = startOf(metadata.eid, metadata.occurred_at);
      const parents = metadata.parent_eids === undefined ? '' : `,"parent_eids":${asciiJson(metadata.parent_eids)}`;
      const flow = metadata.flow_id === undefined || metadata.flow_id === '' ? flowId : asciiJson(metadata.flow_id);
      const span = metadata.span_ctx === undefined ? trace : `,"span_ctx":${asciiJson(metadata.span_ctx)}`;
      const key =
        metadata.partition_compaction_key === undefined
          ? ''
          : `,"partition_compaction_key":${asciiJson(metadata.partition_compaction_key)}`;
      return `${start}${afterEid}${partition}"${parents}${receivedAt}${flow}${version}${span}${key}}`;
    },
  };
}

function isPlain({ parent_eids, flow_id, span_ctx, partition_compaction_key }: ProducerMetadata): boolean {
  return (
    parent_eids === undefined &&
    flow_id === undefined &&
    span_ctx === undefined &&
    partition_compaction_key === undefined
  );
}
