import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../../../src/clock.ts';
import type { StreamEncoding } from '../../../src/http/edge/compression/stream-encoding.ts';
import { destroyAfterGracePeriod, writeJsonStream, type ChunkSource } from '../../../src/http/edge/json-stream.ts';
import { eventually } from '../../support/eventually.ts';
import { streamDecoder, streamEncodings } from '../../support/http/stream-encodings.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { partOrWhole } from '../../support/values/extent.ts';

const lineFeed = 0x0a;

/** Around the two pieces of a chunk of some thousand bytes: four digits and two line ends for each. */
const framingBytes = 2 * (4 + 2 + 2);

/** Text that does not compress well. */
const text = randomBytes(1024 * 1024).map((byte) => 0x20 + (byte & 0x3f));

type Chunk = Awaited<ReturnType<ChunkSource['next']>>;

/** Returns chunks of random text until it is told to stop, then waits for pushed ones. */
class TestSource implements ChunkSource {
  /** Chunks that were returned, and how many of them were released. */
  given = 0;
  released = 0;
  /** Whether the writer waits for the next chunk; otherwise it waits for the connection. */
  isAsked = false;
  readonly #chunkBytes: number;
  #isEnough = false;
  #reader: ((chunk: Chunk) => void) | undefined;

  constructor(chunkBytes: number) {
    this.#chunkBytes = chunkBytes;
  }

  next(): Promise<Chunk> {
    return new Promise((resolve) => {
      this.isAsked = true;
      this.#reader = resolve;
      if (!this.#isEnough) this.push();
    });
  }

  enough(): void {
    this.#isEnough = true;
  }

  /** Pushes one more chunk: a line of that text, in two pieces like a large event. */
  push(): void {
    this.given += 1;
    const begin = (this.given * 4_093) % (text.length - this.#chunkBytes);
    const bytes = Buffer.from(text.subarray(begin, begin + this.#chunkBytes));
    bytes[bytes.length - 1] = lineFeed;
    const middle = Math.floor(bytes.length / 2);
    const pieces = [bytes.subarray(0, middle), bytes.subarray(middle)];
    this.#give({ pieces, release: () => (this.released += 1) });
  }

  end(): void {
    this.#give(null);
  }

  #give(chunk: Chunk): void {
    this.isAsked = false;
    this.#reader?.(chunk);
  }
}

describe('a JSON stream', () => {
  let server: Server;
  let reader: IncomingMessage | undefined;
  let response: ServerResponse;
  let source: TestSource;
  let failures: unknown[];

  beforeEach(async () => {
    failures = [];
    server = createServer();
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });

  afterEach(() => {
    reader?.destroy();
    server.closeAllConnections();
    server.close();
  });

  /** Opens a stream whose reader reads nothing for now. */
  async function open(
    chunkBytes: (highWaterMark: number) => number,
    encoding?: StreamEncoding,
  ): Promise<IncomingMessage> {
    const requested = once(server, 'request') as Promise<[unknown, ServerResponse]>;
    const sent = get({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, agent: false });
    const responded = once(sent, 'response') as Promise<[IncomingMessage]>;
    [, response] = await requested;
    response.on('error', () => {});
    source = new TestSource(chunkBytes(response.writableHighWaterMark));
    response.flushHeaders();
    writeJsonStream(response, source, encoding, systemClock, (error) => failures.push(error));
    const [opened] = await responded;
    opened.on('error', () => {});
    reader = opened;
    return opened;
  }

  /** Resolves when the connection is full: bytes are buffered, and the writer requests no more. */
  async function untilFull(): Promise<void> {
    let before = -1;
    await eventually(async () => {
      const { given } = source;
      const isStill = given === before;
      before = given;
      if (!isStill) await new Promise((resolve) => setTimeout(resolve, 50));
      return isStill && response.writableLength > 0 && !source.isAsked;
    }, 20_000);
  }

  /** Begins to read the response, and counts its lines. */
  function readLines(from: IncomingMessage, encoding?: StreamEncoding): { count: number; ended: boolean } {
    const read = { count: 0, ended: false };
    const decoded = encoding === undefined ? from : from.pipe(streamDecoder(encoding));
    decoded.on('data', (bytes: Buffer) => {
      for (let at = bytes.indexOf(lineFeed); at >= 0; at = bytes.indexOf(lineFeed, at + 1)) read.count += 1;
    });
    decoded.on('end', () => (read.ended = true));
    return read;
  }

  const sizes: [title: string, bytes: (highWaterMark: number) => number][] = [
    ['200 bytes', () => 200],
    ['one byte less than the high-water mark, with the framing', (mark) => mark - 1 - framingBytes],
    ['as many bytes as the high-water mark, with the framing', (mark) => mark - framingBytes],
    ['one byte less than the high-water mark, without the framing', (mark) => mark - 1],
    ['as many bytes as the high-water mark, without the framing', (mark) => mark],
    ['four times the high-water mark', (mark) => 4 * mark],
  ];
  for (const encoding of streamEncodings) {
    const form = encoding === undefined ? '' : `, compressed with ${encoding}`;
    // What a compressor writes does not depend on the sizes of the chunks that it is given, but its time does.
    const compressed = partOrWhole(sizes.slice(-2, -1), sizes);
    for (const [title, chunkBytes] of encoding === undefined ? sizes : compressed) {
      it(`continues after its reader paused, in chunks of ${title}${form}`, async () => {
        const opened = await open(chunkBytes, encoding);
        await untilFull();
        source.enough();
        const read = readLines(opened, encoding);
        await eventually(() => source.isAsked && read.count === source.given);
        expect(response.writableLength).to.equal(0);
        for (let more = 0; more < 3; more += 1) {
          source.push();
          await eventually(() => source.isAsked && read.count === source.given);
        }
        expect(source.released).to.equal(source.given);
        source.end();
        await eventually(() => read.ended);
        expect(failures).to.deep.equal([]);
      });
    }

    it(`reads no more when a paused reader has disconnected${form}`, async () => {
      const opened = await open((mark) => (encoding === undefined ? 200 : partOrWhole(mark, 200)), encoding);
      await untilFull();
      const { given } = source;
      opened.destroy();
      await once(response, 'close');
      // The chunk that waited for the connection is the last one requested, or the one after it.
      await new Promise((resolve) => setImmediate(resolve));
      expect(source.given).to.be.at.most(given + 1);
      expect(failures).to.deep.equal([]);
    });
  }

  it('that has ended is cut off after five seconds, and not before, when its reader reads no more', async () => {
    const clock = new SimulatedClock();
    await open(() => 200);
    destroyAfterGracePeriod(response, clock);
    await clock.turn(4_999);
    expect(response.destroyed).to.equal(false);
    await clock.turn(1);
    expect(response.destroyed).to.equal(true);
  });

  it('that has ended leaves no timer when its reader has read the last line', async () => {
    const clock = new SimulatedClock();
    const opened = await open(() => 200);
    destroyAfterGracePeriod(response, clock);
    expect(clock.nextDeadline()).to.equal(5_000);
    source.enough();
    readLines(opened);
    await eventually(() => source.isAsked);
    source.end();
    await eventually(() => response.closed);
    expect(clock.nextDeadline()).to.equal(Infinity);
    // It is too late for a timer now: nothing would cancel it.
    destroyAfterGracePeriod(response, clock);
    expect(clock.nextDeadline()).to.equal(Infinity);
  });
});
