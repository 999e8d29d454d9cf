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
  /**
   * Gives its memory back, for whoever writes next: nobody may look at the pieces any more. Not calling it is no fault.
   */
  release(): void;
}

/** Values of one read that follow one another, none of them a deletion, with something between each two. */
export interface ValueRun {
  readonly bytes: Buffer;
  readonly valueStarts: Uint32Array;
  readonly valueEnds: Uint32Array;
}

/**
 * From this size on bytes are referred to where they lie instead of copied: below it a piece of its own, with what
 * stands between it and the next, costs more than a copy into memory that was used a moment ago. Bytes.
 */
const referredBytesMinimum = 64 * 1024;

/**
 * Values that are larger than this on average are added one by one, so that what is copied at once stays small. Bytes.
 */
const valueBytesInRunMaximum = 8 * 1024;

/**
 * Memory for copies is lent and given back: taking new memory for every write costs the collector more than the copy
 * costs the processor. Copies from the smaller size up to the larger are made in lent memory. Bytes.
 */
const lentBytesMinimum = 32 * 1024;
const lentBytesMaximum = 512 * 1024;

/** How much of it is kept for the next. Pieces. */
const spareMaximum = 16;

const spare: Buffer[] = [];

class Pieces implements Chunk {
  readonly pieces: readonly Buffer[];
  readonly length: number;
  #lent: Buffer[];
  #releases: (() => void)[];

  constructor(pieces: readonly Buffer[], length: number, lent: Buffer[], releases: (() => void)[]) {
    this.pieces = pieces;
    this.length = length;
    this.#lent = lent;
    this.#releases = releases;
  }

  toString(): string {
    return Buffer.concat(this.pieces).toString();
  }

  release(): void {
    for (const memory of this.#lent) if (spare.length < spareMaximum) spare.push(memory);
    for (const release of this.#releases) release();
    this.#lent = [];
    this.#releases = [];
  }
}

/**
 * Collects what goes into one write. Small pieces are copied together, large ones are taken as they lie. Each write has
 * a builder of its own: what one that failed half-way had collected goes to nobody.
 */
export class ChunkBuilder {
  /** Bytes collected. */
  size = 0;
  readonly #sources: (string | Buffer | ValueRun)[] = [];
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  readonly #sizes: number[] = [];
  readonly #releases: (() => void)[] = [];

  /** @param text ASCII */
  addText(text: string): void {
    this.#add(text, 0, text.length, text.length);
  }

  addBytes(bytes: Buffer, start: number, end: number): void {
    this.#add(bytes, start, end, end - start);
  }

  /** Adds the values of the records `from` to `to` (exclusive), separated by commas. */
  addValues(run: ValueRun, from: number, to: number): void {
    const { bytes, valueStarts, valueEnds } = run;
    let size = to - from - 1;
    for (let index = from; index < to; index += 1) size += (valueEnds[index] ?? 0) - (valueStarts[index] ?? 0);
    if (size < valueBytesInRunMaximum * (to - from)) {
      this.#add(run, from, to, size);
      return;
    }
    for (let index = from; index < to; index += 1) {
      if (index > from) this.addText(',');
      this.addBytes(bytes, valueStarts[index] ?? 0, valueEnds[index] ?? 0);
    }
  }

  /**
   * Has this called when the chunk is given back: what was collected until now may refer to memory that it gives back.
   */
  addRelease(release: () => void): void {
    this.#releases.push(release);
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
    this.#sizes[position] = text.length;
    this.size += text.length;
  }

  /** Everything collected. To be called once. */
  take(): Chunk {
    const pieces: Buffer[] = [];
    const lent: Buffer[] = [];
    let copied = 0;
    let bytesToCopy = 0;
    for (let index = 0; index < this.#sources.length; index += 1) {
      const source = this.#sources[index];
      const start = this.#starts[index] ?? 0;
      const end = this.#ends[index] ?? 0;
      const size = this.#sizes[index] ?? 0;
      const isReferred = source instanceof Buffer && size >= referredBytesMinimum;
      if (copied < index && (isReferred || bytesToCopy + size > lentBytesMaximum)) {
        pieces.push(this.#copy(copied, index, lent));
        copied = index;
        bytesToCopy = 0;
      }
      if (isReferred) {
        pieces.push(source.subarray(start, end));
        copied = index + 1;
      } else {
        bytesToCopy += size;
      }
    }
    if (copied < this.#sources.length) pieces.push(this.#copy(copied, this.#sources.length, lent));
    return new Pieces(pieces, this.size, lent, this.#releases);
  }

  /** What was collected from one position to another, in one buffer. */
  #copy(from: number, to: number, lent: Buffer[]): Buffer {
    let bytes = 0;
    for (let index = from; index < to; index += 1) bytes += this.#sizes[index] ?? 0;
    const copy = memoryFor(bytes, lent);
    let position = 0;
    for (let index = from; index < to; index += 1) {
      const source = this.#sources[index];
      const start = this.#starts[index] ?? 0;
      const end = this.#ends[index] ?? 0;
      if (typeof source === 'string') position += copy.write(source, position, 'latin1');
      else if (source instanceof Uint8Array) position += source.copy(copy, position, start, end);
      else if (source !== undefined) position = copyValues(source, start, end, copy, position);
    }
    return copy;
  }

  #add(source: string | Buffer | ValueRun, start: number, end: number, size: number): void {
    this.#sources.push(source);
    this.#starts.push(start);
    this.#ends.push(end);
    this.#sizes.push(size);
    this.size += size;
  }
}

function memoryFor(bytes: number, lent: Buffer[]): Buffer {
  if (bytes < lentBytesMinimum || bytes > lentBytesMaximum) return Buffer.allocUnsafe(bytes);
  const memory = spare.pop() ?? Buffer.allocUnsafeSlow(lentBytesMaximum);
  lent.push(memory);
  return memory.subarray(0, bytes);
}

const comma = 0x2c;

/** Answers the position behind the last value. */
function copyValues(run: ValueRun, from: number, to: number, copy: Buffer, position: number): number {
  const { bytes, valueStarts, valueEnds } = run;
  let end = position;
  for (let index = from; index < to; index += 1) {
    if (index > from) {
      copy[end] = comma;
      end += 1;
    }
    end += bytes.copy(copy, end, valueStarts[index], valueEnds[index]);
  }
  return end;
}
