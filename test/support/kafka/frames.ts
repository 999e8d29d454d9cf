/**
 * The parts of the Kafka protocol that the fault-injecting proxy needs: request headers, the partitions that a request
 * names, and the position of error codes in responses. Only versions without flexible fields are supported. Of the
 * others, of which the product uses two, requests and responses can be lost and delayed.
 */

/** The requests that faults are injected into, with their numbers in the protocol. */
export const apiKeys = {
  Produce: 0,
  Fetch: 1,
  ListOffsets: 2,
  Metadata: 3,
  OffsetCommit: 8,
  OffsetFetch: 9,
  FindCoordinator: 10,
  SaslHandshake: 17,
  ApiVersions: 18,
  CreateTopics: 19,
  DeleteTopics: 20,
  DeleteRecords: 21,
  InitProducerId: 22,
  AddPartitionsToTxn: 24,
  AddOffsetsToTxn: 25,
  EndTxn: 26,
  TxnOffsetCommit: 28,
  DescribeConfigs: 32,
  AlterConfigs: 33,
  SaslAuthenticate: 36,
  CreatePartitions: 37,
  IncrementalAlterConfigs: 44,
  DescribeProducers: 61,
} as const;

export type ApiName = keyof typeof apiKeys;

/** One request as it was sent. */
export interface KafkaRequest {
  readonly apiKey: number;
  readonly apiVersion: number;
  readonly correlationId: number;
  readonly clientId: string | null;
  /** The bytes after the header of the request. */
  readonly body: Buffer;
  /** The whole frame without its length. */
  readonly frame: Buffer;
  /** The broker that the client connected to: `host:port`. */
  readonly target: string;
}

/** The partitions that a request names, by topic. */
export type NamedPartitions = readonly { readonly topic: string; readonly partitions: readonly number[] }[];

/** Reads a request's frame (without its length). */
export function readRequest(frame: Buffer, target: string): KafkaRequest {
  const reader = readerOf(frame);
  const apiKey = reader.int16();
  const apiVersion = reader.int16();
  const correlationId = reader.int32();
  const clientId = reader.string();
  return { apiKey, apiVersion, correlationId, clientId, body: frame.subarray(reader.position()), frame, target };
}

/** A frame with its length in front, as it is written to a socket. */
export function toFrame(...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([int32(content.length), content]);
}

/** Splits the bytes of a connection into frames, and passes on each without its length. */
export function frameSplitter(onFrame: (frame: Buffer) => void): (chunk: Buffer) => void {
  let chunks: Buffer[] = [];
  let length = 0;
  return (chunk) => {
    chunks.push(chunk);
    length += chunk.length;
    let wanted = frameLength(chunks, length);
    while (wanted !== undefined && length >= wanted) {
      const bytes = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
      const rest = bytes.subarray(wanted);
      chunks = rest.length === 0 ? [] : [rest];
      length = rest.length;
      onFrame(bytes.subarray(4, wanted));
      wanted = frameLength(chunks, length);
    }
  };
}

function frameLength(chunks: readonly Buffer[], length: number): number | undefined {
  const first = chunks[0];
  if (first === undefined || length < 4) return undefined;
  return 4 + (first.length >= 4 ? first : Buffer.concat(chunks)).readInt32BE(0);
}

/**
 * The partitions that a request names. Supports Produce v3 to v7, Fetch v10, AddPartitionsToTxn v0 to v1 and
 * OffsetCommit v5.
 */
export function partitionsOf(request: KafkaRequest): NamedPartitions {
  const reader = readerOf(request.body);
  switch (nameOf(request)) {
    case 'Produce':
      within(request, 3, 7);
      reader.string();
      reader.skip(2 + 4);
      return reader.topics(() => {
        const partition = reader.int32();
        reader.skip(reader.int32());
        return partition;
      });
    case 'Fetch':
      within(request, 10, 10);
      reader.skip(4 + 4 + 4 + 4 + 1 + 4 + 4);
      return reader.topics(() => {
        const partition = reader.int32();
        reader.skip(4 + 8 + 8 + 4);
        return partition;
      });
    case 'AddPartitionsToTxn':
      within(request, 0, 1);
      reader.string();
      reader.skip(8 + 2);
      return reader.topics(() => reader.int32());
    case 'OffsetCommit':
      within(request, 5, 5);
      reader.string();
      reader.skip(4);
      reader.string();
      return reader.topics(() => {
        const partition = reader.int32();
        reader.skip(8);
        reader.string();
        return partition;
      });
    default:
      throw new Error(`Which partitions a request with key ${request.apiKey} names is not known here`);
  }
}

/**
 * The body of a response that refuses the request with the code, as the broker itself would write it, for requests that
 * the broker never receives. Produce v5 to v7, Fetch v10, AddPartitionsToTxn, OffsetCommit v5, EndTxn, AddOffsetsToTxn,
 * InitProducerId and FindCoordinator v1 to v2.
 */
export function refusal(request: KafkaRequest, errorCode: number): Buffer {
  const throttle = int32(0);
  const code = int16(errorCode);
  switch (nameOf(request)) {
    case 'Produce':
      within(request, 5, 7);
      return Buffer.concat([
        topicsOf(partitionsOf(request), (partition) => [int32(partition), code, int64(-1n), int64(-1n), int64(-1n)]),
        throttle,
      ]);
    case 'Fetch':
      return Buffer.concat([
        throttle,
        int16(0),
        int32(0),
        topicsOf(partitionsOf(request), (partition) => [int32(partition), code, ...emptyFetchedPartition]),
      ]);
    case 'AddPartitionsToTxn':
    case 'OffsetCommit':
      return Buffer.concat([throttle, topicsOf(partitionsOf(request), (partition) => [int32(partition), code])]);
    case 'EndTxn':
    case 'AddOffsetsToTxn':
      return Buffer.concat([throttle, code]);
    case 'InitProducerId':
      return Buffer.concat([throttle, code, int64(-1n), int16(-1)]);
    case 'FindCoordinator':
      within(request, 1, 2);
      return Buffer.concat([throttle, code, int16(-1), int32(-1), text(''), int32(-1)]);
    default:
      throw new Error(`How to refuse a request with key ${request.apiKey} is not known here`);
  }
}

/**
 * The body of the response with the code for its first (or only) partition, and without the fields that a broker omits
 * with an error. Undefined when the response names no partition. Produce v3 to v7, Fetch v10, ListOffsets v2 to v3,
 * AddPartitionsToTxn, OffsetCommit v3 to v6, TxnOffsetCommit, EndTxn, AddOffsetsToTxn, InitProducerId, FindCoordinator.
 */
export function withErrorCode(request: KafkaRequest, body: Buffer, errorCode: number): Buffer | undefined {
  switch (nameOf(request)) {
    case 'EndTxn':
    case 'AddOffsetsToTxn':
    case 'InitProducerId':
    case 'FindCoordinator':
      return refusal(request, errorCode);
    case 'Produce': {
      within(request, 3, 7);
      const patched = withCodeAt(body, firstPartitionError(body, 0), errorCode);
      if (patched !== undefined) patched.bytes.writeBigInt64BE(-1n, patched.position + 2);
      return patched?.bytes;
    }
    case 'ListOffsets':
    case 'AddPartitionsToTxn':
    case 'OffsetCommit':
    case 'TxnOffsetCommit':
      return withCodeAt(body, firstPartitionError(body, 4), errorCode)?.bytes;
    case 'Fetch': {
      within(request, 10, 10);
      const patched = withCodeAt(body, firstPartitionError(body, 4 + 2 + 4), errorCode);
      if (patched === undefined) return undefined;
      const after = patched.position + 2;
      return Buffer.concat([
        patched.bytes.subarray(0, after),
        ...emptyFetchedPartition,
        patched.bytes.subarray(endOfFetchedPartition(patched.bytes, after)),
      ]);
    }
    default:
      throw new Error(`Where a response with key ${request.apiKey} keeps its error code is not known here`);
  }
}

/** The address of a broker. */
export interface BrokerAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * The body of the response with the address of every broker replaced: Metadata v1 to v8 and FindCoordinator v1 to v2,
 * the only responses with addresses.
 */
export function withAddresses(
  request: KafkaRequest,
  body: Buffer,
  replace: (address: BrokerAddress) => BrokerAddress,
): Buffer {
  const reader = readerOf(body);
  if (nameOf(request) === 'FindCoordinator') {
    within(request, 1, 2);
    reader.skip(4 + 2);
    reader.string();
    return replaceAddress(body, reader, replace);
  }
  within(request, 1, 8);
  if (request.apiVersion >= 3) reader.skip(4);
  let replaced = body;
  for (let left = reader.int32(); left > 0; left -= 1) {
    // The bytes after the rewritten part are the same, only moved.
    const moved = replaced.length - body.length;
    replaced = replaceAddress(replaced, reader, replace, moved);
    reader.string();
  }
  return replaced;
}

/**
 * Replaces node id, host and port at the position of the reader, and moves the reader after them.
 * @param moved By how many bytes the rewritten data is shifted.
 */
function replaceAddress(
  body: Buffer,
  reader: ReturnType<typeof readerOf>,
  replace: (address: BrokerAddress) => BrokerAddress,
  moved = 0,
): Buffer {
  reader.int32();
  const start = reader.position() + moved;
  const host = reader.string() ?? '';
  const port = reader.int32();
  const end = reader.position() + moved;
  // A missing coordinator has an empty host.
  const address = host === '' ? { host, port } : replace({ host, port });
  return Buffer.concat([body.subarray(0, start), text(address.host), int32(address.port), body.subarray(end)]);
}

/** The bytes after the error code of a partition in an empty Fetch v10 response. */
const emptyFetchedPartition = [int64(-1n), int64(-1n), int64(-1n), int32(-1), int32(0)];

/** The end of the partition whose high watermark begins at the position. */
function endOfFetchedPartition(body: Buffer, position: number): number {
  const aborted = position + 24;
  const records = aborted + 4 + Math.max(0, body.readInt32BE(aborted)) * 16;
  return records + 4 + Math.max(0, body.readInt32BE(records));
}

/** The position of the first partition's error code, for an array of topics at the given position. */
function firstPartitionError(body: Buffer, topicsAt: number): number | undefined {
  if (body.readInt32BE(topicsAt) < 1) return undefined;
  const partitionsAt = topicsAt + 4 + 2 + body.readInt16BE(topicsAt + 4);
  return body.readInt32BE(partitionsAt) < 1 ? undefined : partitionsAt + 4 + 4;
}

function withCodeAt(
  body: Buffer,
  position: number | undefined,
  errorCode: number,
): { readonly bytes: Buffer; readonly position: number } | undefined {
  if (position === undefined) return undefined;
  const bytes = Buffer.from(body);
  bytes.writeInt16BE(errorCode, position);
  return { bytes, position };
}

function nameOf(request: KafkaRequest): string {
  return (Object.keys(apiKeys) as ApiName[]).find((name) => apiKeys[name] === request.apiKey) ?? 'unknown';
}

function within(request: KafkaRequest, least: number, most: number): void {
  if (request.apiVersion < least || request.apiVersion > most) {
    throw new Error(`Version ${request.apiVersion} of the request with key ${request.apiKey} is not known here`);
  }
}

function topicsOf(topics: NamedPartitions, partitionParts: (partition: number) => readonly Buffer[]): Buffer {
  const parts = topics.flatMap(({ topic, partitions }) => [
    text(topic),
    int32(partitions.length),
    ...partitions.flatMap(partitionParts),
  ]);
  return Buffer.concat([int32(topics.length), ...parts]);
}

/** Reads values one after another. */
function readerOf(bytes: Buffer) {
  let at = 0;
  const int16 = (): number => bytes.readInt16BE((at += 2) - 2);
  const int32 = (): number => bytes.readInt32BE((at += 4) - 4);
  const skip = (length: number): void => {
    at += Math.max(0, length);
  };
  const string = (): string | null => {
    const length = int16();
    if (length < 0) return null;
    skip(length);
    return bytes.toString('utf8', at - length, at);
  };
  const array = <Item>(item: () => Item): Item[] => Array.from({ length: Math.max(0, int32()) }, item);
  const topics = (partition: () => number): NamedPartitions =>
    array(() => ({ topic: string() ?? '', partitions: array(partition) }));
  return { position: () => at, int16, int32, skip, string, topics };
}

export function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

export function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

export function int64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}

/** A string with its length in front. */
export function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'utf8');
  return Buffer.concat([int16(bytes.length), bytes]);
}
