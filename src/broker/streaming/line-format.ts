/**
 * The wire form of a batch: one JSON object on one line. Event bytes are copied as they are stored, never parsed; the
 * rest is ASCII, so its length in characters is its length in bytes.
 */

import { BoundedMap } from '../../bounded-map.ts';
import type { Offset } from '../../ports/event-log.ts';
import type { ChunkBuilder, EventRun } from './chunk-builder.ts';

/** What a line says about the stream itself: text for people and a code for programs. */
export interface LineInfo {
  readonly debug: string;
  /** Why the stream ends; only on its last line. */
  readonly code?: string;
}

/** What the end of a line may say in addition to what the line has. */
export interface LinePositions {
  /**
   * The cursors from which a reader that received the line would continue: a JSON list in ASCII, or the short form of
   * many positions.
   */
  cursors(): string;
}

/** How a stream writes its batches. Events are copied as they are stored, unless the frame says how to write them. */
export interface LineFormat {
  /** Before the line of a batch with events. */
  readonly batchStart: string;
  /** Before the line of a batch without events. */
  readonly keepAliveStart: string;
  /** The end of a line, behind its events. */
  lineEnd(info: LineInfo | undefined, positions: LinePositions): string;
  /** The frame of each partition's lines. Default: {@link lineFrame}. */
  readonly frameOf?: (eventType: string, partition: number) => LineFrame;
}

/** `application/x-json-stream`: one JSON object on one line. */
export const jsonLines: LineFormat = { batchStart: '', keepAliveStart: '', lineEnd };

/** The parts of a partition's lines that never change. */
export interface LineFrame {
  /** From the line's start to the offset. */
  readonly beforeOffset: string;
  /** From the offset to the cursor token; undefined for a cursor that cannot be committed and so has no token. */
  readonly afterOffset: string | undefined;
  /** Writes the offset. Default: as the log's own API does. */
  readonly formatOffset?: (offset: Offset) => string;
  /** Writes events, separated by commas. Default: the bytes that are stored. */
  readonly addRun?: (chunk: ChunkBuilder, run: EventRun) => void;
}

const beforeCursor = '{"cursor":';

/** The most event types whose frames are kept. */
export const eventTypesOfFramesMaximum = 1_000;

/** By event type, then partition. Those of the event type that was asked for longest ago go first. */
const frames = new BoundedMap<string, LineFrame[]>(eventTypesOfFramesMaximum);

/** The frame of a partition for streams without a subscription, whose cursors name nothing but the position. */
export function uncommittableLineFrame(partition: number): LineFrame {
  return { beforeOffset: beforeOffset(String(partition)), afterOffset: undefined };
}

/** The frame of a partition. Streams share it: a copy in each would be a tenth of the memory of an idle stream. */
export function lineFrame(eventType: string, partition: number): LineFrame {
  let framesOfEventType = frames.get(eventType);
  if (framesOfEventType === undefined) frames.set(eventType, (framesOfEventType = []));
  return (framesOfEventType[partition] ??= frameWithNames(String(partition), eventType));
}

/** A frame whose cursors name the partition and the event type like this. @param partition ASCII without quotes. */
export function frameWithNames(partition: string, eventType: string): LineFrame {
  return {
    beforeOffset: beforeOffset(partition),
    afterOffset: `","event_type":${asciiJson(eventType)},"cursor_token":"`,
  };
}

function beforeOffset(partition: string): string {
  return `${beforeCursor}{"partition":"${partition}","offset":"`;
}

/**
 * From the line's start to its events, or to its end when it has none.
 * @param cursorToken Left out where the frame has no place for it.
 */
export function lineStart(frame: LineFrame, offset: string, cursorToken: string): string {
  if (frame.afterOffset === undefined) return `${frame.beforeOffset}${offset}"}`;
  return `${frame.beforeOffset}${offset}${frame.afterOffset}${cursorToken}"}`;
}

/** The cursor alone, as an object. */
export function cursorText(frame: LineFrame, offset: string, cursorToken: string): string {
  return lineStart(frame, offset, cursorToken).slice(beforeCursor.length);
}

export const eventsStart = ',"events":[';
export const eventsEnd = ']';

/** The end of a line, behind its events. */
export function lineEnd(info: LineInfo | undefined): string {
  return info === undefined ? '}\n' : `,"info":${asciiJson(info)}}\n`;
}

export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
