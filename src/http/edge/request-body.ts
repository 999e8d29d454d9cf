import type { Request } from 'express';
import { isUtf8 } from 'node:buffer';
import * as zlib from 'node:zlib';
import type { Requests, Unread } from '../../contract.ts';
import { LendstreamError, describeError } from '../../errors.ts';
import { isNestedDeeper } from '../../json-bytes.ts';
import { askForBody } from './bodies/expected-bodies.ts';
import { bodiesInFlight, bodyAllowanceOf, type BodyClaim } from './bodies-in-flight.ts';
import { createZstdDecoder, hasZstd, type Decompressor } from './compression/zstd.ts';

/** The largest request body, as sent and after decompression. Bytes. */
export const bodyBytesMaximum = 8 * 1024 * 1024;

/**
 * How deep the JSON of a body may be nested, except where a body has a limit of its own. Levels. An event may have half
 * as many. Code that uses the stack for each level, such as writing a value into a message, can handle this many
 * anywhere.
 */
export const bodyDepthMaximum = 200;

/**
 * The largest window of a zstd body, as a power of two: as much as a body may have. A header of a few bytes may ask for
 * a window of 128 MiB, which would be allocated before anything can be counted.
 */
const zstdWindowLogMaximum = 23;

/**
 * The most frames of a zstd body. Each needs a decoder of its own, which costs as much time as a hundred kilobytes do,
 * and a frame may have as few as nine bytes.
 */
export const zstdFramesMaximum = 1_000;

const emptyBody = Buffer.alloc(0);

/** By encoding: what undoes it. That of gzip reads on after the first of several members, that of zstd does not. */
const decompressors: ReadonlyMap<string, () => Decompressor> = new Map([
  ['gzip', () => zlib.createGunzip()],
  ['x-gzip', () => zlib.createGunzip()],
  ...(hasZstd ? ([['zstd', () => createZstdDecoder(zstdWindowLogMaximum)]] as const) : []),
]);

/**
 * Reads a request's body whole, undoing `Content-Encoding: gzip`, and `zstd` where Node can. Another encoding is
 * refused. The bytes count as in flight until the response is closed.
 * @throws REQUEST_TOO_LARGE, MALFORMED_REQUEST (corrupt compression, body cut off), UNSUPPORTED_MEDIA_TYPE, OVERLOADED
 *   when too many bytes of bodies are in flight, TOO_MANY_REQUESTS when too many of them are this client's
 */
export function readBody(request: Request, bytesMaximum: number = bodyBytesMaximum): Promise<Buffer> {
  const ahead = bodiesReadAhead.get(request);
  return ahead === undefined ? readUntilClosed(request, bytesMaximum) : notBeyond(ahead, bytesMaximum);
}

async function notBeyond(reading: Promise<Buffer>, bytesMaximum: number): Promise<Buffer> {
  const body = await reading;
  if (body.length > bytesMaximum) throw tooLarge(bytesMaximum);
  return body;
}

/** Bodies that were read before a handler asks for them. */
const bodiesReadAhead = new WeakMap<Request, Promise<Buffer>>();

/**
 * Reads a body before the handler of its request does, which then gets the same, or the same error.
 * @throws as {@link readBody}
 */
export function readBodyAhead(request: Request): Promise<Buffer> {
  const reading = readUntilClosed(request, bodyBytesMaximum);
  bodiesReadAhead.set(request, reading);
  return reading;
}

function readUntilClosed(request: Request, bytesMaximum: number): Promise<Buffer> {
  const claim = bodiesInFlight.claim(request.socket, bodyAllowanceOf(request.res));
  request.res?.once('close', () => claim.release());
  return readWithClaim(request, bytesMaximum, claim);
}

/**
 * Like {@link readBody}, for a request whose response continues long after its body was used: the bytes count as in
 * flight only until they are read.
 */
export async function readBodyAndRelease(request: Request): Promise<Buffer> {
  const claim = bodiesInFlight.claim(request.socket, bodyAllowanceOf(request.res));
  try {
    return await readWithClaim(request, bodyBytesMaximum, claim);
  } finally {
    claim.release();
  }
}

async function readWithClaim(request: Request, bytesMaximum: number, claim: BodyClaim): Promise<Buffer> {
  // If the connection ended during an earlier wait, no further event comes, not even 'end'.
  if (request.destroyed && !request.readableEnded) throw requestAborted();
  claimDeclaredLength(request, bytesMaximum, claim);
  askForBody(request);
  const raw = arrivedBodyOf(request) ?? (await readWhenParsed(request, bytesMaximum, claim));
  const encoding = contentEncodingOf(request);
  if (raw.length > 0) requireJsonOfBrowsers(request);
  if (encoding === 'identity') return raw;
  const createDecompressor = decompressors.get(encoding);
  if (createDecompressor === undefined) {
    const known = [...decompressors.keys()].filter((name) => !name.startsWith('x-')).join(' or ');
    throw new LendstreamError('UNSUPPORTED_MEDIA_TYPE', `Content-Encoding ${encoding} is not supported, use ${known}.`);
  }
  return decompress(raw, bytesMaximum, claim, { encoding, createDecompressor });
}

/** The encoding of a body, in lower case; an empty header counts as none. */
export function contentEncodingOf({ headers }: Request): string {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  return encoding === '' ? 'identity' : encoding;
}

/**
 * Refuses a body from a page unless it is JSON: a browser lets any page send other types without asking first. For
 * programs that are no browsers, the type is not checked.
 * @throws UNSUPPORTED_MEDIA_TYPE
 */
function requireJsonOfBrowsers({ headers }: Request): void {
  if (headers.origin === undefined && headers['sec-fetch-site'] === undefined) return;
  if (/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(headers['content-type'] ?? '')) return;
  throw new LendstreamError('UNSUPPORTED_MEDIA_TYPE', 'A page must send its body as Content-Type: application/json.');
}

/** Bytes that were unpacked. */
interface Unpacked {
  readonly chunks: Buffer[];
  size: number;
}

/**
 * Undoes the encoding of a whole body. A body of zstd is one or more frames (RFC 8878, 3.1), and what is left after one
 * is the next.
 */
async function decompress(
  compressed: Buffer,
  bytesMaximum: number,
  claim: BodyClaim,
  { encoding, createDecompressor }: { readonly encoding: string; readonly createDecompressor: () => Decompressor },
): Promise<Buffer> {
  const unpacked: Unpacked = { chunks: [], size: 0 };
  const refusalAt = (size: number): Error | undefined => {
    if (size > bytesMaximum) return tooLarge(bytesMaximum);
    return claim.resize(compressed.length + size) ? undefined : tooMuchInFlight(claim);
  };
  let rest = compressed;
  let frames = 0;
  do {
    if (frames === zstdFramesMaximum) {
      throw new LendstreamError('MALFORMED_REQUEST', `The ${encoding} body has more than ${zstdFramesMaximum} frames.`);
    }
    const decompressor = createDecompressor();
    await unpackFrame(rest, encoding, decompressor, unpacked, refusalAt);
    frames += 1;
    // The decoder of gzip has read on by itself; what it leaves is padding.
    rest = encoding === 'zstd' ? rest.subarray(decompressor.bytesWritten) : emptyBody;
  } while (rest.length > 0);
  claim.resize(unpacked.size);
  return unpacked.chunks.length === 1 ? (unpacked.chunks[0] as Buffer) : Buffer.concat(unpacked.chunks, unpacked.size);
}

/** Counts the unpacked bytes as they come, since their number is not known in advance. */
function unpackFrame(
  compressed: Buffer,
  encoding: string,
  decompressor: Decompressor,
  unpacked: Unpacked,
  refusalAt: (size: number) => Error | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    decompressor.on('data', (chunk: Buffer) => {
      unpacked.size += chunk.length;
      unpacked.chunks.push(chunk);
      const refusal = refusalAt(unpacked.size);
      if (refusal === undefined) return;
      decompressor.destroy();
      reject(refusal);
    });
    decompressor.on('error', (error) => {
      reject(new LendstreamError('MALFORMED_REQUEST', `The ${encoding} body cannot be read: ${describeError(error)}`));
    });
    decompressor.on('end', resolve);
    decompressor.end(compressed);
  });
}

/**
 * Reads the body of an operation that must be one JSON object. Its fields are those of the API description; their
 * values are not checked.
 * @throws what {@link readBody} throws, and MALFORMED_REQUEST with the parser's message
 */
export async function readJsonObject<Operation extends keyof Requests>(
  request: Request,
): Promise<Unread<Requests[Operation]>> {
  const json = parseJsonObject(await readBody(request));
  // The audit takes the name of what is created from it.
  if (request.res !== undefined) request.res.locals['requestJson'] = json;
  return json;
}

/** @throws MALFORMED_REQUEST with the parser's message */
export function parseJsonObject(body: Buffer): Record<string, unknown> {
  const value = parseJson(body);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new LendstreamError('MALFORMED_REQUEST', 'The body must be a JSON object.');
  }
  return value as Record<string, unknown>;
}

/**
 * @throws MALFORMED_REQUEST when the body is no JSON (with the parser's message), no UTF-8, or nested deeper than
 *   {@link bodyDepthMaximum}
 */
export function parseJson(body: Buffer): unknown {
  if (isNestedDeeper(body, bodyDepthMaximum)) {
    throw new LendstreamError('MALFORMED_REQUEST', `The body is nested deeper than ${bodyDepthMaximum} levels.`);
  }
  // Decoding would replace invalid bytes with another character.
  if (!isUtf8(body)) throw new LendstreamError('MALFORMED_REQUEST', 'The body is not UTF-8.');
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (error) {
    throw new LendstreamError('MALFORMED_REQUEST', `The body is not JSON: ${describeError(error)}`);
  }
}

/** @throws REQUEST_TOO_LARGE, OVERLOADED, TOO_MANY_REQUESTS for a length that is too large, before any of it is read */
function claimDeclaredLength(request: Request, bytesMaximum: number, claim: BodyClaim): void {
  const length = Number(request.headers['content-length'] ?? 0);
  if (length > bytesMaximum) throw tooLarge(bytesMaximum);
  if (!claim.resize(length)) throw tooMuchInFlight(claim);
}

/** A body of a declared length that has arrived whole, or one whose end was seen before: nothing is left of it. */
function arrivedBodyOf(request: Request): Buffer | undefined {
  if (request.readableEnded) return emptyBody;
  if (!request.complete || request.destroyed || request.headers['transfer-encoding'] !== undefined) return undefined;
  const first = request.read() as Buffer | null;
  if (first === null) return emptyBody;
  return request.readableLength === 0 ? first : Buffer.concat([first, ...restOf(request)]);
}

/** What else has arrived. From Node 26 on, each read returns one piece of it, before that all of it. */
function restOf(request: Request): Buffer[] {
  const pieces: Buffer[] = [];
  for (let piece = request.read() as Buffer | null; piece !== null; piece = request.read() as Buffer | null) {
    pieces.push(piece);
  }
  return pieces;
}

/**
 * A small body comes with its headers, and Node hands both over before it lets anything else happen. One that is there
 * then is taken as it is: waiting for the events of a stream would cost a commit a tenth of its time.
 */
async function readWhenParsed(request: Request, bytesMaximum: number, claim: BodyClaim): Promise<Buffer> {
  // Otherwise Node would see to it that a body which nothing reads is discarded.
  request.read(0);
  await Promise.resolve();
  return arrivedBodyOf(request) ?? readAsItComes(request, bytesMaximum, claim);
}

/** The bytes are counted as they come. */
function readAsItComes(request: Request, bytesMaximum: number, claim: BodyClaim): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (request.destroyed) {
      reject(requestAborted());
      return;
    }
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = (): void =>
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
    const abandon = (error: Error): void => {
      request.removeAllListeners('data').off('end', finish);
      chunks.length = 0;
      claim.release();
      reject(error);
    };
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > bytesMaximum) abandon(tooLarge(bytesMaximum));
      else if (size > claim.bytes && !claim.resize(size)) abandon(tooMuchInFlight(claim));
      else chunks.push(chunk);
    });
    request.on('end', finish);
    request.on('error', reject);
    request.on('aborted', () => {
      chunks.length = 0;
      claim.release();
      reject(requestAborted());
    });
  });
}

function tooLarge(bytesMaximum: number): LendstreamError {
  return new LendstreamError('REQUEST_TOO_LARGE', `A request body may have at most ${bytesMaximum} bytes.`);
}

function requestAborted(): LendstreamError {
  return new LendstreamError('MALFORMED_REQUEST', 'The request was cut off.');
}

function tooMuchInFlight({ refusal }: BodyClaim): Error {
  if (refusal !== undefined) return refusal;
  return new LendstreamError('OVERLOADED', 'Too many bytes of request bodies are in progress. Nothing was done.');
}
