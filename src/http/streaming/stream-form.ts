import type { Request, Response } from 'express';
import { jsonLines, type LineFormat } from '../../broker/streaming/line-format.ts';
import { idField, serverSentEvents } from '../../broker/streaming/server-sent-events.ts';
import type { ChunkSource } from '../edge/json-stream.ts';
import { streamEncodingOf, type StreamEncoding } from '../edge/compression/stream-encoding.ts';

/** The form in which a client asked for a stream. The same engine serves both. */
export interface StreamForm {
  readonly format: LineFormat;
  readonly isEventStream: boolean;
  /** Absent for a stream that is not compressed. */
  readonly encoding: StreamEncoding | undefined;
}

const jsonStreamType = 'application/x-json-stream';
const eventStreamType = 'text/event-stream';
/** As clients name it that state the encoding of their texts, which is the only one of server-sent events. */
const eventStreamTypes = [eventStreamType, `${eventStreamType};charset=utf-8`];

/** How long a browser waits before it opens a stream that has ended again. Milliseconds. */
export const reconnectMilliseconds = 1_000;

/** Lines of JSON, unless the client prefers server-sent events, as the `EventSource` of a browser does. */
export function streamFormOf(request: Request): StreamForm {
  const isEventStream =
    /text\/event-stream/i.test(request.headers.accept ?? '') &&
    eventStreamTypes.includes(request.accepts(jsonStreamType, 'application/json', ...eventStreamTypes) || '');
  return {
    format: isEventStream ? serverSentEvents : jsonLines,
    isEventStream,
    encoding: streamEncodingOf(request),
  };
}

/** Sends the headers of a stream, before there is anything to send. */
export function sendStreamHeaders(
  response: Response,
  { isEventStream, encoding }: StreamForm,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.vary('Accept, Accept-Encoding');
  response.writeHead(200, {
    'Content-Type': isEventStream ? eventStreamType : jsonStreamType,
    ...headers,
    ...(encoding === undefined ? {} : { 'Content-Encoding': encoding }),
    // Proxies that collect a response before they pass it on would delay events.
    ...(isEventStream ? { 'X-Accel-Buffering': 'no' } : {}),
  });
  response.flushHeaders();
}

/**
 * The first event of a subscription's stream. A page needs the id to commit, and `EventSource` shows it no headers.
 */
export function startOfSubscriptionStream(streamId: string): string {
  return `${startEvent}data: {"stream_id":"${streamId}"}\n\n`;
}

/**
 * The first event of a stream without a subscription: where to resume it if its connection ends before the next one.
 * @param cursors A JSON list in ASCII.
 * @param id The same cursors, as the ids of the stream have them.
 */
export function startOfEventTypeStream(cursors: string, id: string): string {
  return `${startEvent}data: {"cursors":${cursors}}\n${idField(id)}\n`;
}

const startEvent = `retry: ${reconnectMilliseconds}\nevent: start\n`;

/** The source with a text before its first bytes. */
export function withOpening(text: string, source: ChunkSource): ChunkSource {
  let isOpened = false;
  return {
    next() {
      if (isOpened) return source.next();
      isOpened = true;
      return Promise.resolve({ pieces: [Buffer.from(text)] });
    },
  };
}
