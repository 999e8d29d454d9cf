/**
 * The wire form of a batch: one JSON object on one line. Event bytes are copied as they are stored, never parsed; the
 * rest is ASCII, so its length in characters is its length in bytes.
 */

/** What a line says about the stream itself: words for people, and for programs a code. */
export interface LineInfo {
  readonly debug: string;
  /** Why the stream ends; only on its last line. */
  readonly code?: string;
}

/** The parts of a partition's lines that never change. */
export interface LineFrame {
  /** From the line's start to where the offset stands. */
  readonly beforeOffset: string;
  /** From the offset to where the cursor token stands. */
  readonly afterOffset: string;
}

/** How many event types' frames are kept at most. */
const eventTypesOfFramesMaximum = 1_000;

/** By event type, then partition. */
const frames = new Map<string, LineFrame[]>();

/** The frame of a partition. The streams of one event type share it: it would be a tenth of what an idle one takes. */
export function lineFrame(eventType: string, partition: number): LineFrame {
  let ofEventType = frames.get(eventType);
  if (ofEventType === undefined) {
    if (frames.size >= eventTypesOfFramesMaximum) frames.clear();
    frames.set(eventType, (ofEventType = []));
  }
  return (ofEventType[partition] ??= {
    beforeOffset: `{"cursor":{"partition":"${partition}","offset":"`,
    afterOffset: `","event_type":${asciiJson(eventType)},"cursor_token":"`,
  });
}

/** From the line's start to its events, or to its end when it has none. */
export function lineStart(frame: LineFrame, offset: string, cursorToken: string): string {
  return `${frame.beforeOffset}${offset}${frame.afterOffset}${cursorToken}"}`;
}

export const eventsStart = ',"events":[';
export const eventsEnd = ']';

export function lineEnd(info: LineInfo | undefined): string {
  return info === undefined ? '}\n' : `,"info":${asciiJson(info)}}\n`;
}

function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** What goes into one write: buffers in order, some of them parts of what the log keeps. Treat as immutable. */
export interface Chunk {
  readonly pieces: readonly Buffer[];
  /** Bytes of all pieces. */
  readonly length: number;
  toString(): string;
}

/**
 * From this size on bytes are referred to where they lie instead of copied: below it a piece of its own costs more than
 * the copy. Bytes.
 */
const referredBytesMinimum = 8 * 1024;

class Pieces implements Chunk {
  readonly pieces: readonly Buffer[];
  readonly length: number;

  constructor(pieces: readonly Buffer[], length: number) {
    this.pieces = pieces;
    this.length = length;
  }

  toString(): string {
    return Buffer.concat(this.pieces).toString();
  }
}

/**
 * Collects what goes into one write. Small pieces are copied together, large ones are taken as they lie. Building is
 * synchronous, so that one builder serves every stream of the process.
 */
export class ChunkBuilder {
  /** Bytes collected. */
  size = 0;
  #sources: (string | Buffer)[] = [];
  #starts: number[] = [];
  #ends: number[] = [];

  /** @param text ASCII */
  addText(text: string): void {
    this.#add(text, 0, text.length);
  }

  addBytes(bytes: Buffer, start: number, end: number): void {
    this.#add(bytes, start, end);
  }

  /** Keeps a place for a text that is known only when what follows it has been collected. */
  reserveText(): number {
    this.addText('');
    return this.#sources.length - 1;
  }

  /** @param text ASCII */
  fillText(position: number, text: string): void {
    this.#sources[position] = text;
    this.#ends[position] = text.length;
    this.size += text.length;
  }

  /** Everything collected; the builder is empty afterwards. */
  take(): Chunk {
    const pieces: Buffer[] = [];
    let copied = 0;
    for (let index = 0; index < this.#sources.length; index += 1) {
      const source = this.#sources[index];
      const start = this.#starts[index] ?? 0;
      const end = this.#ends[index] ?? 0;
      if (typeof source === 'string' || source === undefined || end - start < referredBytesMinimum) continue;
      if (copied < index) pieces.push(this.#copy(copied, index));
      pieces.push(source.subarray(start, end));
      copied = index + 1;
    }
    if (copied < this.#sources.length) pieces.push(this.#copy(copied, this.#sources.length));
    const chunk = new Pieces(pieces, this.size);
    this.#sources = [];
    this.#starts = [];
    this.#ends = [];
    this.size = 0;
    return chunk;
  }

  /** What was collected from one position to another, in one buffer of its own. */
  #copy(from: number, to: number): Buffer {
    let bytes = 0;
    for (let index = from; index < to; index += 1) bytes += (this.#ends[index] ?? 0) - (this.#starts[index] ?? 0);
    const copy = Buffer.allocUnsafe(bytes);
    let position = 0;
    for (let index = from; index < to; index += 1) {
      const source = this.#sources[index];
      if (typeof source === 'string') position += copy.write(source, position, 'latin1');
      else if (source !== undefined) position += source.copy(copy, position, this.#starts[index], this.#ends[index]);
    }
    return copy;
  }

  #add(source: string | Buffer, start: number, end: number): void {
    this.#sources.push(source);
    this.#starts.push(start);
    this.#ends.push(end);
    this.size += end - start;
  }
}
